//! Runs tests that mostly wait at the same time: for limits of the server, for retries, for the age of lists and files.

use super::{client_quota, connections, fill, package_faults, settings, slow_store, store_faults};

/// Scenes with their names, which a failure shows as that of the thread.
macro_rules! scenes {
    ($($scene:path),* $(,)?) => {
        [$((stringify!($scene), $scene as fn())),*]
    };
}

#[test]
fn limits_retries_and_ages() {
    let scenes = scenes![
        connections::slow_senders_are_closed_while_others_are_served,
        fill::a_version_that_the_policy_refused_is_tried_again,
        fill::hanging_origin::an_origin_that_gives_no_list_leaves_what_the_store_has,
        fill::hanging_origin::an_origin_that_gives_no_list_stops_no_first_reads,
        fill::lost_store::a_filled_store_that_is_away_is_not_begun_again,
        fill::slow_origin::a_filled_version_is_served_although_its_origin_lists_slowly,
        fill::slow_origin::a_version_that_is_still_being_mirrored_is_answered_later,
        fill::hanging_origin::a_list_that_comes_late_serves_the_next_request,
        package_faults::a_package_that_changes_while_it_is_sent_never_arrives_whole,
        package_faults::a_package_that_the_registry_spoils_never_arrives_whole,
        settings::a_certificate_is_read_again_when_its_files_change,
        settings::the_registry_accepts_what_replaced_its_password,
        client_quota::one_client_cannot_have_all_packages,
        store_faults::every_refusal_of_the_registry_is_503_and_never_404,
        store_faults::a_store_that_never_answered_is_503,
        slow_store::a_slow_store_is_answered_in_the_end,
        store_faults::a_registry_becomes_unreachable_and_comes_back,
        store_faults::what_a_store_lacked_is_503_while_it_is_unreachable,
        slow_store::what_a_slow_store_lacks_is_404,
        store_faults::an_empty_layout_is_not_ready,
        store_faults::a_layout_becomes_unreachable_and_comes_back,
        store_faults::the_layout_of_a_provider_is_damaged_and_whole_again,
        store_faults::the_disk_of_a_store_is_unmounted_and_mounted_again,
        store_faults::changes_of_the_store_are_served_soon,
    ];
    std::thread::scope(|scope| {
        for (name, scene) in scenes {
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn_scoped(scope, scene).unwrap();
        }
    });
}
