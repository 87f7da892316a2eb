public import MediaTiming

/// Decodes captions of CTA-708, those of digital television (CTA-708-E).
///
/// Windows with their text, places, colours and pens are decoded. Left out are delays, effects, borders and fills of windows.
public struct CEA708Decoder: Sendable {
    private let number: Int
    private var packet: CEA708Packet
    private var service = CEA708Service()
    private var screen = CaptionScreen()
    private var lastTime = MediaTime.zero

    /// Makes a decoder of a service, 1 to 63; 1, the main language of a programme, by default.
    public init(service number: Int = 1) {
        self.number = min(max(number, 1), 63)
        packet = CEA708Packet(service: self.number)
    }

    /// What is shown at the last time that was handed in: cues that have not ended, up to that time.
    public var shown: [SubtitleCue] { screen.shown(until: lastTime) }

    /// Takes the captions of a frame.
    ///
    /// - Parameters:
    ///   - triplets: The frame's captions of all kinds; those of line 21 are left out.
    ///   - time: When the frame is presented; frames come in this order.
    /// - Returns: The cues that end with this frame.
    public mutating func decode(_ triplets: [CaptionTriplet], at time: MediaTime) -> [SubtitleCue] {
        lastTime = max(lastTime, time)
        var isChanged = false
        for triplet in triplets {
            for block in packet.take(triplet) {
                service.take(block)
                isChanged = true
            }
        }
        return isChanged ? screen.show(service.blocks, from: time) : []
    }

    /// Ends what is shown, as at the end of a programme or before a jump, and begins anew.
    ///
    /// - Parameter time: When it is no longer shown.
    /// - Returns: The cues that end with it.
    public mutating func finish(at time: MediaTime) -> [SubtitleCue] {
        lastTime = max(lastTime, time)
        packet.reset()
        service = CEA708Service()
        return screen.show([], from: time)
    }
}
