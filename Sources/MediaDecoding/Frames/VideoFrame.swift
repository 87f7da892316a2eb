public import MediaTiming

/// A decoded video frame with its presentation time.
public struct VideoFrame: Sendable {
    /// The presentation time: container time when a decoder outputs the frame, the time of the player item after
    /// timestamp mapping.
    public var time: MediaTime
    /// The duration of the frame; zero if unknown.
    public var duration: MediaTime
    /// A Boolean value that indicates whether the frame is decodable without other frames.
    public let isKeyFrame: Bool
    /// The pixels, in the orientation in which they are shown.
    public let pixelBuffer: PixelBuffer
    /// The closed captions of the frame as 3-byte `cc_data` entries (CTA-708-E §4.3); usually empty.
    public let captionData: [UInt8]

    /// Creates a frame.
    public init(
        time: MediaTime,
        duration: MediaTime,
        isKeyFrame: Bool,
        pixelBuffer: PixelBuffer,
        captionData: [UInt8] = []
    ) {
        self.time = time
        self.duration = duration
        self.isKeyFrame = isKeyFrame
        self.pixelBuffer = pixelBuffer
        self.captionData = captionData
    }
}
