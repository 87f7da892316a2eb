import AssetStorage
import Synchronization

/// The playlists of a source until the run of a download has entered their files in the catalog.
///
/// They can be large, and are released then.
final class EnteredPlaylists: Sendable {
    private let value: Mutex<DownloadResolver.Resolution?>

    /// The plan of the asset before the files were entered in the catalog; `nil` if they are not yet.
    let formerPlan: FormerPlan?

    /// Creates a holder of playlists.
    init(_ resolution: DownloadResolver.Resolution, formerPlan: FormerPlan? = nil) {
        value = Mutex(resolution)
        self.formerPlan = formerPlan
    }

    /// The playlists; `nil` if they were taken.
    var resolution: DownloadResolver.Resolution? { value.withLock { $0 } }

    /// Returns the playlists the first time, and `nil` from then on.
    func take() -> DownloadResolver.Resolution? { value.withLock { $0.take() } }
}
