//! What waits for most of its time waits at the same time: for limits of the server, for retries below, for the age of lists.

use super::{connections, fill, package_faults, shares, store_faults};

#[test]
fn limits_retries_and_ages() {
    let scenes: [fn(); 12] = [
        connections::slow_senders_are_cut_while_others_are_served,
        connections::an_idle_http2_connection_is_kept_although_frames_arrive,
        fill::a_version_that_the_policy_refused_is_tried_again,
        package_faults::a_package_that_changes_while_it_is_sent_never_arrives_whole,
        package_faults::a_package_that_the_registry_spoils_never_arrives_whole,
        shares::one_client_cannot_have_all_packages,
        store_faults::whatever_the_registry_refuses_is_503_and_never_404,
        store_faults::a_store_that_never_was_there_is_503,
        store_faults::a_slow_store_is_answered_in_the_end,
        store_faults::a_registry_goes_and_comes_back,
        store_faults::a_layout_goes_and_comes_back,
        store_faults::what_changes_in_the_store_is_served_soon,
    ];
    std::thread::scope(|scope| {
        for scene in scenes {
            scope.spawn(scene);
        }
    });
}
