/// Options for decoding video.
public struct VideoDecodingOptions: Sendable, Hashable {
    /// The number of threads that decode a frame, from 1 to 16; the default of 1 has the lowest total cost.
    public var threadCount: Int
    /// A Boolean value that indicates whether to decode with VA-API hardware; software decoding is the fallback.
    public var prefersHardware: Bool

    /// Creates options.
    public init(threadCount: Int = 1, prefersHardware: Bool = false) {
        self.threadCount = threadCount
        self.prefersHardware = prefersHardware
    }

    var decoderOptions: VideoDecoder.Options {
        VideoDecoder.Options(threadCount: min(max(threadCount, 1), 16), prefersHardware: prefersHardware)
    }
}
