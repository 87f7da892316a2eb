public import MediaTiming

/// What is written over the picture: set by whoever plays, drawn by the window.
///
/// Setting it often costs nothing: the window draws again only where what is to be seen has changed.
public struct OverlayState: Sendable, Hashable {
    /// How long there is something to play.
    public enum Length: Sendable, Hashable {
        /// Not known yet: no position can be clicked.
        case unknown
        /// To the end of what is recorded.
        case recorded(MediaTime)
        /// It goes on; ``OverlayState/seekableRange`` moves with it.
        case live
    }

    /// Whether time passes.
    public enum Progress: Sendable, Hashable {
        /// It does.
        case playing
        /// It was halted.
        case paused
        /// It would, but something is not there yet: a few words for people, "buffering" where they are empty.
        case waiting(reason: String)
        /// It came to the end.
        case ended
    }

    /// The play head.
    public var position = MediaTime.zero
    /// How long there is something to play.
    public var length = Length.unknown
    /// What is loaded.
    public var loadedRanges = MediaTimeRangeSet()
    /// Where it can be sought; `nil` for the whole of what is recorded.
    public var seekableRange: MediaTimeRange?
    /// Whether time passes.
    public var progress = Progress.paused
    /// The speed, 1 for normal.
    public var rate = 1.0
    /// How loud, 0 to 1.
    public var volume = 1.0
    /// Whether it is silent whatever the volume.
    public var isMuted = false
    /// What is said in the middle for as long as it is set: why nothing plays, say.
    ///
    /// What passes is for ``PlayerWindow/announce(_:)``.
    public var message: String?
    /// What is said in the picture at this moment.
    public var subtitles = SubtitleText()
    /// Lines of figures in a corner; none are shown where it is empty.
    public var statistics: [String] = []

    /// Makes an overlay that shows nothing but the position, at zero.
    public init() {}

    /// The stretch that the position bar stands for; `nil` where there is no bar.
    var span: MediaTimeRange? {
        switch length {
        case .unknown: nil
        case .recorded(let end):
            end > .zero ? MediaTimeRange(start: .zero, end: end) : nil
        case .live: seekableRange.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// A time that can be sought, as near as possible to another one.
    func seekable(_ time: MediaTime) -> MediaTime {
        guard let range = seekableRange ?? span else { return max(.zero, time) }
        return min(max(range.start, time), range.end)
    }
}
