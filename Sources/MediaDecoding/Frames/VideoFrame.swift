public import MediaTiming

/// A decoded picture and when it is shown.
public struct VideoFrame: Sendable {
    /// When it is shown: the container's time as it leaves a decoder, the item's once it is mapped.
    public var time: MediaTime
    /// How long it is shown; zero where that is not known.
    public var duration: MediaTime
    /// Whether it was decoded without others.
    public let isKeyFrame: Bool
    /// The pixels.
    public let picture: Picture
    /// Closed captions that came with it: triples of `cc_data` (CTA-708-E §4.3); mostly empty.
    public let captionData: [UInt8]

    /// Makes a frame.
    public init(
        time: MediaTime,
        duration: MediaTime,
        isKeyFrame: Bool,
        picture: Picture,
        captionData: [UInt8] = []
    ) {
        self.time = time
        self.duration = duration
        self.isKeyFrame = isKeyFrame
        self.picture = picture
        self.captionData = captionData
    }
}
