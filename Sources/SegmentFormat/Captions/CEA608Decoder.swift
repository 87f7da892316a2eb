package import MediaTiming

/// A decoder of CTA-608 closed captions (line 21), channels CC1 to CC4 (CTA-608-E; 47 CFR 15.119).
///
/// It decodes pop-on, roll-up and paint-on captions. Text mode and extended data services are ignored.
package struct CEA608Decoder: Sendable {
    /// A caption channel.
    package enum Channel: Int, Sendable, Hashable, CaseIterable {
        /// The first channel of the first field, usually the primary captions of a program.
        case cc1 = 1
        /// The second channel of the first field.
        case cc2 = 2
        /// The first channel of the second field.
        case cc3 = 3
        /// The second channel of the second field.
        case cc4 = 4
    }

    /// The frequency of cues while a caption is built character by character.
    package enum CueGranularity: Sendable, Hashable {
        /// A new cue for each frame that adds characters: identical to a television display, with about 30 cues per
        /// second.
        case perFrame
        /// A new cue for each line, which is shown completely from its start time on.
        case perLine
    }

    private let granularity: CueGranularity
    private var parser: CEA608Parser
    private var state = CEA608State()
    private var screen = CaptionScreen()
    private var changedAt: MediaTime?
    private var lastTime = MediaTime.zero

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - channel: The caption channel; CC1 by default.
    ///   - granularity: The frequency of cues while a caption is built; one for each frame by default.
    package init(channel: Channel = .cc1, granularity: CueGranularity = .perFrame) {
        self.granularity = granularity
        parser = CEA608Parser(channel)
    }

    /// The cues that are shown at the last frame; their end is the presentation time of that frame.
    package var currentCues: [SubtitleCue] { screen.currentCues(endingAt: lastTime) }

    /// Decodes the captions of a frame.
    ///
    /// - Parameters:
    ///   - triplets: The captions of the frame; those of the other field and of CTA-708 are ignored.
    ///   - time: The presentation time of the frame. Frames must be passed in the order of their presentation times.
    /// - Returns: The cues that end at this frame.
    package mutating func decode(_ triplets: [CaptionTriplet], at time: MediaTime) -> [SubtitleCue] {
        var ended: [SubtitleCue] = []
        lastTime = max(lastTime, time)
        for triplet in triplets where triplet.kind == parser.kind {
            for code in parser.codes(triplet.first, triplet.second) {
                // The line built so far is converted to a cue before it is moved or removed.
                if granularity == .perLine, code.completesLine, let since = changedAt {
                    ended += updateScreen(from: since)
                }
                let isChanged = state.apply(code)
                guard isChanged else { continue }
                changedAt = changedAt ?? time
                if code.completesLine, code != .carriageReturn, granularity == .perLine {
                    ended += updateScreen(from: time)
                }
            }
        }
        if granularity == .perFrame, changedAt != nil { ended += updateScreen(from: time) }
        return ended
    }

    /// Ends the cues that are shown, as at the end of a program or before a seek, and resets the decoder.
    ///
    /// - Parameter time: The time at which the cues end.
    /// - Returns: The cues that end.
    package mutating func finish(at time: MediaTime) -> [SubtitleCue] {
        lastTime = max(lastTime, time)
        var ended: [SubtitleCue] = []
        if let since = changedAt { ended += updateScreen(from: since) }
        state = CEA608State()
        parser.reset()
        ended += updateScreen(from: time)
        changedAt = nil
        return ended
    }

    private mutating func updateScreen(from time: MediaTime) -> [SubtitleCue] {
        changedAt = nil
        return screen.show(state.displayed.blocks, from: time)
    }
}
