public import MediaTiming

/// The options of the recording of a live stream.
public struct RecordingOptions: Sendable, Hashable {
    /// The duration of the media to record, including what earlier runs recorded; `nil` to record until the stream ends
    /// or the task is canceled.
    public var duration: MediaTime?
    /// A Boolean value that indicates whether the recording begins with the first segment of the playlists.
    ///
    /// Otherwise it begins three target durations before the end, as a player does (RFC 8216bis §6.3.3). A recording that
    /// is continued begins after its last segment in both cases.
    public var startsFromBeginning: Bool
    /// A Boolean value that indicates whether the recording waits until the stream is available, instead of failing.
    public var waitsForStream: Bool

    /// Creates options.
    public init(duration: MediaTime? = nil, startsFromBeginning: Bool = false, waitsForStream: Bool = false) {
        self.duration = duration
        self.startsFromBeginning = startsFromBeginning
        self.waitsForStream = waitsForStream
    }
}
