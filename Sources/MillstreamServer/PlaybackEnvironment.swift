import MediaTiming

/// The access to sources, the signers and the resources that the routes of playback share.
struct PlaybackEnvironment: Sendable {
    /// The access to sources by kind of client.
    let sources: SourceAccess
    /// The signer of the addresses of segments and media files.
    let signer: SegmentSigner
    /// The signer of playback addresses if only signed ones are admitted; `nil` to admit all.
    var playbackSigner: PlaybackSigner?
    /// The scheme with which the server is reached.
    var scheme = "http"
    let capacity: ServerCapacity
    let workers: EditWorkers
    var metrics = ServerMetrics()
    /// The storage of the breaks of edited live playlists.
    var breaks: any BreakStore = MemoryBreakStore()
    /// The clock for time limits of requests.
    var time: any TimeSource = SystemTimeSource()
}
