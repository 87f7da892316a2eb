/// A perceptible change of playback, with the wording of `PerfMeasurements`, for which scripts search.
public enum PlaybackNotice: Sendable, Hashable, CustomStringConvertible {
    /// Playback began the given time after the start of the session.
    case started(after: Duration)
    /// Playback stopped because the buffer is empty.
    case stalled
    /// Playback resumed after a stall of the given duration.
    case resumed(after: Duration)
    /// The session ended.
    case ended

    /// The line for the console.
    public var description: String {
        switch self {
        case .started(let duration): "Playback started in \(duration.inSeconds.hundredths) seconds"
        case .stalled: "Playback stalled"
        case .resumed(let duration): "Playback resumed in \(duration.inSeconds.hundredths) seconds"
        case .ended: "Playback ended"
        }
    }
}
