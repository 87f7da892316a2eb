package import MediaTiming

/// A decoder of CTA-708 captions of digital television (CTA-708-E).
///
/// It decodes windows with their text, positions, colors and pen attributes. Delays, effects, borders and fill colors
/// of windows are ignored.
package struct CEA708Decoder: Sendable {
    private let number: Int
    private var packet: CEA708PacketAssembler
    private var service = CEA708Service()
    private var screen = CaptionScreen()
    private var lastTime = MediaTime.zero

    /// Creates a decoder for a caption service, 1 to 63; 1, the primary caption service, by default.
    package init(service number: Int = 1) {
        self.number = min(max(number, 1), 63)
        packet = CEA708PacketAssembler(service: self.number)
    }

    /// The cues that are shown at the time of the last frame, with that time as their end.
    package var currentCues: [SubtitleCue] { screen.currentCues(endingAt: lastTime) }

    /// Decodes the captions of a frame.
    ///
    /// - Parameters:
    ///   - triplets: The captions of the frame; those of CTA-608 are ignored.
    ///   - time: The presentation time of the frame; frames must be passed in this order.
    /// - Returns: The cues that end at this frame.
    package mutating func decode(_ triplets: [CaptionTriplet], at time: MediaTime) -> [SubtitleCue] {
        lastTime = max(lastTime, time)
        var isChanged = false
        for triplet in triplets {
            for block in packet.add(triplet) {
                service.applyBlock(block)
                isChanged = true
            }
        }
        return isChanged ? screen.show(service.blocks, from: time) : []
    }

    /// Ends the cues that are shown, as at the end of a program or before a seek, and resets the decoder.
    ///
    /// - Parameter time: The time at which the cues end.
    /// - Returns: The cues that end.
    package mutating func finish(at time: MediaTime) -> [SubtitleCue] {
        lastTime = max(lastTime, time)
        packet.reset()
        service = CEA708Service()
        return screen.show([], from: time)
    }
}
