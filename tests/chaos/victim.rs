use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::site::assert_names_what_is_there;
use crate::support::scene::Scene;

use super::layout_scene::{
    LayoutScene, PLATFORMS, PROVIDER, Remains, Seen, Tree, copy, install, push, site, unfinished,
};

/// The directory that a victim writes to.
pub const PLACE: &str = "place";

/// A run that is disturbed.
pub struct Victim {
    scene: LayoutScene,
    /// The directory that `place` is a copy of when the run begins.
    before: Option<&'static str>,
    work: Work,
    /// The stdout of an undisturbed run, and the tree that it leaves.
    expected: (String, Tree),
    /// The results of disturbed runs that were checked already.
    judged: RefCell<BTreeSet<Remains>>,
}

/// The command of a run.
enum Work {
    /// A push with further arguments, and what readers see before and after it.
    Push(&'static str, [Option<Seen>; 2]),
    /// A copy of the store `store`, and what readers see before and after it.
    Copy([Option<Seen>; 2]),
    /// An installation in one of the forms.
    Install(&'static str),
    /// The files of a network mirror.
    Site,
}

impl Victim {
    /// A push of `dist` into a copy of another store, or into none.
    pub fn pushing(scene: LayoutScene, before: Option<&'static str>, more: &'static str) -> Self {
        Self::new(scene, before, Work::Push(more, [None, None]))
    }

    /// A copy of `store` into another store, or into none.
    pub fn copying(scene: LayoutScene, before: Option<&'static str>) -> Self {
        scene.succeeds(push("store", ""));
        Self::new(scene, before, Work::Copy([None, None]))
    }

    /// An installation from `store` into an empty directory.
    pub fn installing(scene: LayoutScene, form: &'static str) -> Self {
        scene.succeeds(push("store", ""));
        Self::new(scene, None, Work::Install(form))
    }

    /// A site of `store` in an empty directory.
    pub fn writing_a_site(scene: LayoutScene) -> Self {
        scene.succeeds(push("store", ""));
        Self::new(scene, None, Work::Site)
    }

    fn new(scene: LayoutScene, before: Option<&'static str>, work: Work) -> Self {
        let expected = (String::new(), Tree::new());
        let mut victim = Self {
            scene,
            before,
            work,
            expected,
            judged: RefCell::default(),
        };
        let scene = &victim.scene;
        scene.reset("undisturbed", before);
        let printed = scene.succeeds(victim.line("undisturbed"));
        let printed = printed.replace("undisturbed", PLACE);
        victim.expected = (printed, scene.tree("undisturbed"));
        let seen = [before, Some("undisturbed")].map(|store| store.and_then(|at| scene.seen(at)));
        if let Work::Push(_, allowed) | Work::Copy(allowed) = &mut victim.work {
            *allowed = seen;
        }
        victim
    }

    pub fn scene(&self) -> &Scene {
        &self.scene.scene
    }

    /// Restores the state before the run. Returns the line of the run.
    pub fn prepare(&self) -> String {
        self.scene.reset(PLACE, self.before);
        self.line(PLACE)
    }

    fn line(&self, place: &str) -> String {
        match &self.work {
            Work::Push(more, _) => push(place, more),
            Work::Copy(_) => copy(place),
            Work::Install(form) => install(place, form),
            Work::Site => site(place),
        }
    }

    /// Checks the result of a disturbed run: no partial result is visible, and the same command finishes. Each result is checked once,
    /// however many runs end in it, since readers and the next run depend on these files only.
    #[track_caller]
    pub fn judge(&self) {
        let remains = self.scene.remains(PLACE);
        if self.judged.borrow_mut().insert(remains) {
            self.shows_nothing_half_done();
            self.finishes();
        }
    }

    /// Panics if a partial result is visible.
    #[track_caller]
    pub fn shows_nothing_half_done(&self) {
        match &self.work {
            Work::Push(_, allowed) | Work::Copy(allowed) => {
                assert!(allowed.contains(&self.scene.seen(PLACE)))
            }
            Work::Install(form) => self.holds_whole_packages(form),
            Work::Site => {
                self.holds_whole_packages("--packed");
                assert_names_what_is_there(&self.scene.path(PLACE));
            }
        }
    }

    #[track_caller]
    fn holds_whole_packages(&self, form: &str) {
        let (_, whole) = &self.expected;
        let mut visible = self.scene.tree(PLACE);
        visible.retain(|path, _| !path.to_str().unwrap().starts_with(".tfoci-"));
        for (path, node) in &visible {
            assert_eq!(whole.get(path), Some(node), "{}", path.display());
        }
        for platform in PLATFORMS {
            let root = match form {
                "--packed" => format!("{PROVIDER}/terraform-provider-demo_1.0.0_{platform}.zip"),
                _ => format!("{PROVIDER}/1.0.0/{platform}"),
            };
            let below = |tree: &Tree| tree.keys().filter(|path| path.starts_with(&root)).count();
            assert_ne!(below(whole), 0);
            let all_or_none = [0, below(whole)].contains(&below(&visible));
            assert!(all_or_none, "a part of {root}");
        }
    }

    /// Panics if an unfinished file is left.
    #[track_caller]
    pub fn cleaned_up(&self) {
        let left = self.scene.tree(PLACE);
        assert_eq!(unfinished(&left), Vec::<&std::path::Path>::new());
    }

    /// Asserts that the same command finishes with the result of an undisturbed run and does not repeat work, and that a further run has
    /// nothing to do.
    #[track_caller]
    pub fn finishes(&self) {
        let (scene, line) = (&self.scene, self.line(PLACE));
        let arrived = self.zips();
        let printed = scene.succeeds(&line);
        assert_eq!(printed, self.expected.0);
        let is_finished = scene.tree(PLACE) == self.expected.1;
        assert!(is_finished, "not as after an undisturbed run");
        let now = scene.inodes(PLACE);
        for (zip, inode) in arrived {
            // A replaced zip may be missing.
            let again = now.get(&zip).is_some_and(|now| *now != inode);
            assert!(!again, "copied again: {}", zip.display());
        }
        let third = scene.line(&line).succeeds();
        let done = match &self.work {
            Work::Push(..) => "Pushed",
            Work::Copy(_) => "Copied",
            Work::Install(_) => "Installed",
            Work::Site => "Wrote",
        };
        let third = third.says(&format!("{done} nothing 2"));
        assert_eq!((third.stdout, scene.inodes(PLACE)), (printed, now));
    }

    /// The complete zips, with their inodes.
    fn zips(&self) -> BTreeMap<PathBuf, u64> {
        let tree = self.scene.tree(PLACE);
        let hidden = unfinished(&tree);
        let mut zips = self.scene.inodes(PLACE);
        zips.retain(|path, _| {
            let (content, _) = &tree[path];
            let content = content.as_ref();
            let is_zip = content.is_some_and(|bytes| bytes.starts_with(b"PK"));
            is_zip && !hidden.contains(&path.as_path())
        });
        zips
    }
}
