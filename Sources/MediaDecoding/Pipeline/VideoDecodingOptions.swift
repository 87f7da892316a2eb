/// How pictures are decoded.
public struct VideoDecodingOptions: Sendable, Hashable {
    /// On how many threads one picture is decoded, 1 to 16; 1 by default, which costs the least in all.
    public var threadCount: Int
    /// Whether a graphics card decodes where one can (VA-API); otherwise, and where it fails, software does.
    public var prefersHardware: Bool

    /// Makes options.
    public init(threadCount: Int = 1, prefersHardware: Bool = false) {
        self.threadCount = threadCount
        self.prefersHardware = prefersHardware
    }

    var decoder: VideoDecoder.Options {
        VideoDecoder.Options(threadCount: min(max(threadCount, 1), 16), prefersHardware: prefersHardware)
    }
}
