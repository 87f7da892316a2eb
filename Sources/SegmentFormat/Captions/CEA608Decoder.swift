public import MediaTiming

/// Decodes the captions of line 21: CTA-608, channels CC1 to CC4 (CTA-608-E; 47 CFR 15.119).
///
/// Pop-on, roll-up and paint-on captions are decoded; text mode and extended data are left out.
public struct CEA608Decoder: Sendable {
    /// Which captions of a programme.
    public enum Channel: Int, Sendable, Hashable, CaseIterable {
        /// The first of the first field: those that a programme mostly has.
        case cc1 = 1
        /// The second of the first field.
        case cc2 = 2
        /// The first of the second field.
        case cc3 = 3
        /// The second of the second field.
        case cc4 = 4
    }

    /// How often a cue begins while captions grow letter by letter.
    public enum Growth: Sendable, Hashable {
        /// At each frame that adds something: exactly what a television shows, some 30 cues a second.
        case letters
        /// For each line: it is shown whole from the time it begins.
        case lines
    }

    private let growth: Growth
    private var parsing: CEA608Parsing
    private var state = CEA608State()
    private var screen = CaptionScreen()
    private var changedAt: MediaTime?
    private var lastTime = MediaTime.zero

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - channel: Which captions; CC1 by default.
    ///   - growth: How often a cue begins while captions grow; with each letter by default.
    public init(channel: Channel = .cc1, growth: Growth = .letters) {
        self.growth = growth
        parsing = CEA608Parsing(channel)
    }

    /// What is shown at the last time that was handed in: cues that have not ended, up to that time.
    public var shown: [SubtitleCue] { screen.shown(until: lastTime) }

    /// Takes the captions of a frame.
    ///
    /// - Parameters:
    ///   - triplets: The frame's captions of all kinds; those of other fields are left out.
    ///   - time: When the frame is presented; frames come in this order.
    /// - Returns: The cues that end with this frame.
    public mutating func decode(_ triplets: [CaptionTriplet], at time: MediaTime) -> [SubtitleCue] {
        var ended: [SubtitleCue] = []
        lastTime = max(lastTime, time)
        for triplet in triplets where triplet.kind == parsing.kind {
            for code in parsing.codes(triplet.first, triplet.second) {
                // What a line had grown to is told before it is moved or taken away.
                if growth == .lines, code.endsGrowth, let since = changedAt { ended += tell(from: since) }
                let isChanged = state.take(code)
                guard isChanged else { continue }
                changedAt = changedAt ?? time
                if code.endsGrowth, code != .carriageReturn, growth == .lines { ended += tell(from: time) }
            }
        }
        if growth == .letters, changedAt != nil { ended += tell(from: time) }
        return ended
    }

    /// Ends what is shown, as at the end of a programme or before a jump, and begins anew.
    ///
    /// - Parameter time: When it is no longer shown.
    /// - Returns: The cues that end with it.
    public mutating func finish(at time: MediaTime) -> [SubtitleCue] {
        lastTime = max(lastTime, time)
        var ended: [SubtitleCue] = []
        if let since = changedAt { ended += tell(from: since) }
        state = CEA608State()
        parsing.reset()
        ended += tell(from: time)
        changedAt = nil
        return ended
    }

    private mutating func tell(from time: MediaTime) -> [SubtitleCue] {
        changedAt = nil
        return screen.show(state.displayed.blocks, from: time)
    }
}
