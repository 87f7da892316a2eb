public import SegmentFormat

/// Where subtitles and captions go when their time has come.
///
/// One caller at a time, from any thread; it has to return at once.
public protocol SubtitleOutput: Sendable {
    /// Shows cues instead of those that were shown before.
    ///
    /// - Parameter cues: All that are shown from now on, at places where none covers another; empty for none.
    func show(_ cues: [SubtitleCue])
}
