/// What a viewer noticed of how playing goes, in the words of `PerfMeasurements`, which scripts look for.
public enum PlaybackNotice: Sendable, Hashable, CustomStringConvertible {
    /// Playing began so long after the session.
    case started(after: Duration)
    /// Playing stopped for want of media.
    case stalled
    /// Playing goes on after a stall of that length.
    case resumed(after: Duration)
    /// The session is over.
    case ended

    /// The line for a console.
    public var description: String {
        switch self {
        case .started(let duration): "Playback started in \(duration.inSeconds.hundredths) seconds"
        case .stalled: "Playback stalled"
        case .resumed(let duration): "Playback resumed in \(duration.inSeconds.hundredths) seconds"
        case .ended: "Playback ended"
        }
    }
}
