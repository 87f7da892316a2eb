import DASHManifest
import DASHTranslation
import MediaTiming
import PlaylistEditing
import PresentationLoading

extension PresentationStore {
    /// The time for which the server answers requests for playlists of a static manifest without loading it again.
    ///
    /// Players request the playlists of a presentation within seconds; each request is answered by itself afterward.
    private static let staticLifetime = Duration.seconds(30)

    /// Creates the store of the presentations that a server translates.
    ///
    /// - Parameters:
    ///   - limits: The limits of the server, which apply to manifests and translations as to playlists.
    ///   - workers: The executor for parsing and translation.
    ///   - stateFile: The file with the numbers of live presentations; `nil` for none.
    ///   - reportProblem: Called with the description of each problem that does not prevent a translation.
    ///   - time: The clock.
    convenience init(
        _ limits: ServerLimits,
        workers: EditWorkers,
        stateFile: StateFile? = nil,
        reportProblem: @escaping @Sendable (String) -> Void = { _ in },
        time: any TimeSource = SystemTimeSource()
    ) {
        var options = PresentationOptions(time: time)
        let loadedBytes = limits.editing.loadedBytes
        let size = Int(clamping: loadedBytes.bytes)
        options.manifest.byteCount = min(options.manifest.byteCount, size)
        options.translation.byteCount = min(
            options.translation.byteCount,
            Int(clamping: limits.editing.resultBytes.bytes)
        )
        // Several playlists of the maximum length; each is limited when it is parsed.
        options.translation.segmentCount = min(options.translation.segmentCount, Int64(limits.editing.entries) *| 5)
        options.indexSize = min(options.indexSize, loadedBytes)
        options.memorySize = min(options.memorySize, limits.pendingBytes)
        options.presentationCount = 32
        options.staticLifetime = Self.staticLifetime
        options.workers = workers
        options.stateFile = stateFile
        options.reportProblem = reportProblem
        self.init(options: options)
    }
}
