import MediaTiming

/// A block of lines on a caption screen.
struct CaptionBlock: Equatable {
    var lines: [SubtitleLine]
    var placement: SubtitlePlacement
    var layer = 0
}

/// A converter from a changing caption screen to cues.
///
/// Each block has a cue from its appearance to its removal or change.
struct CaptionScreen {
    private(set) var currentCues: [SubtitleCue] = []

    /// Updates the screen, and returns the cues of the blocks that are no longer shown.
    mutating func show(_ blocks: [CaptionBlock], from time: MediaTime) -> [SubtitleCue] {
        var ended: [SubtitleCue] = []
        var kept: [SubtitleCue] = []
        for cue in currentCues {
            if blocks.contains(CaptionBlock(cue)) {
                kept.append(cue)
            } else {
                let cue = Self.cue(cue, until: time)
                if !cue.timeRange.isEmpty { ended.append(cue) }
            }
        }
        let known = kept.map(CaptionBlock.init)
        for block in blocks where !known.contains(block) {
            kept.append(
                SubtitleCue(
                    timeRange: MediaTimeRange(start: time, duration: .zero),
                    lines: block.lines,
                    placement: block.placement,
                    layer: block.layer
                )
            )
        }
        currentCues = kept
        return ended
    }

    /// Returns the current cues with the given end time.
    func currentCues(endingAt time: MediaTime) -> [SubtitleCue] { currentCues.map { Self.cue($0, until: time) } }

    private static func cue(_ cue: SubtitleCue, until time: MediaTime) -> SubtitleCue {
        var cue = cue
        cue.timeRange = MediaTimeRange(start: cue.timeRange.start, end: time)
        return cue
    }
}

extension CaptionBlock {
    fileprivate init(_ cue: SubtitleCue) {
        self.init(lines: cue.lines, placement: cue.placement, layer: cue.layer)
    }
}
