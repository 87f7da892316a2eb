public import SegmentFormat

/// A destination for subtitles and captions at their presentation times.
///
/// Calls may come from any thread, but only one at a time; they must return immediately.
public protocol SubtitleOutput: Sendable {
    /// Shows cues in place of the previous ones.
    ///
    /// - Parameter cues: All cues to show from now on, positioned so that they do not overlap; empty to show none.
    func show(_ cues: [SubtitleCue])
}
