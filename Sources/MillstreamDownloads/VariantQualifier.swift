public import HLSPlaylist
public import MediaTiming

/// A condition that a variant must satisfy to be downloaded.
///
/// A variant that does not declare the attribute does not satisfy the condition. The exception is the video range: a
/// variant that declares none has standard dynamic range (RFC 8216bis §4.4.6.2).
public enum VariantQualifier: Sendable, Hashable {
    /// A condition on the peak bit rate.
    case peakBitRate(Comparison, BitRate)
    /// A condition on the average bit rate.
    case averageBitRate(Comparison, BitRate)
    /// A condition on the maximum frame rate of the video, in frames a second.
    case frameRate(Comparison, MediaTime)
    /// A condition on the width of the video in pixels.
    case width(Comparison, Int)
    /// A condition on the height of the video in pixels.
    case height(Comparison, Int)
    /// A condition on the number of channels of an audio rendition of the variant.
    case channels(Comparison, Int)
    /// A condition on the sample rate of an audio rendition of the variant, in hertz.
    case sampleRate(Comparison, Int)
    /// The dynamic range of the video.
    case videoRange(VideoRange)
    /// A high dynamic range of the video: any declared range but SDR.
    case highDynamicRange
    /// A codec of the variant: an RFC 6381 identifier such as `avc1.64001f`, or its first part, such as `avc1`.
    case codec(String)

    /// A comparison of an attribute with a value.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// The attribute is at least the value.
        case atLeast = ">="
        /// The attribute is at most the value.
        case atMost = "<="
        /// The attribute is not equal to the value.
        case notEqual = "!="
        /// The attribute is greater than the value.
        case greater = ">"
        /// The attribute is less than the value.
        case less = "<"
        /// The attribute is equal to the value.
        case equal = "="

        func holds<Value: Comparable>(_ attribute: Value, _ value: Value) -> Bool {
            switch self {
            case .atLeast: attribute >= value
            case .atMost: attribute <= value
            case .notEqual: attribute != value
            case .greater: attribute > value
            case .less: attribute < value
            case .equal: attribute == value
            }
        }
    }

    /// The names of the attributes in the text of a condition.
    enum Attribute: String, CaseIterable {
        case peakBitRate = "peak-rate"
        case averageBitRate = "average-rate"
        case frameRate = "frame-rate"
        case sampleRate = "sample-rate"
        case width
        case height
        case channels
        case videoRange = "video-range"
        case codec
    }

    /// Creates a qualifier from a condition such as `peak-rate<=5M`, `average-rate<3M`, `frame-rate>30`, `height>=720`,
    /// `channels>=6`, `sample-rate=48000`, `video-range=PQ`, `video-range=HDR` or `codec=hvc1`.
    ///
    /// The result is `nil` for any other text; video ranges and codecs can only be compared with `=`.
    public init?(_ text: some StringProtocol) {
        guard let start = text.firstIndex(where: { "<>=!".contains($0) }),
            let attribute = Attribute(rawValue: String(text[..<start])),
            let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
        else { return nil }
        let value = String(text[start...].dropFirst(comparison.rawValue.count))
        switch attribute {
        case .peakBitRate:
            guard let rate = BitRate(value) else { return nil }
            self = .peakBitRate(comparison, rate)
        case .averageBitRate:
            guard let rate = BitRate(value) else { return nil }
            self = .averageBitRate(comparison, rate)
        case .frameRate:
            guard let rate = MediaTime(decimal: value), rate >= .zero else { return nil }
            self = .frameRate(comparison, rate)
        case .width, .height, .channels, .sampleRate:
            guard let number = Int(value), number >= 0 else { return nil }
            self =
                attribute == .width
                ? .width(comparison, number)
                : attribute == .height
                    ? .height(comparison, number)
                    : attribute == .channels ? .channels(comparison, number) : .sampleRate(comparison, number)
        case .videoRange:
            guard comparison == .equal, !value.isEmpty else { return nil }
            let range = value.uppercased()
            self = range == Self.anyHighRange ? .highDynamicRange : .videoRange(VideoRange(rawValue: range))
        case .codec:
            guard comparison == .equal, !value.isEmpty else { return nil }
            self = .codec(value)
        }
    }

    /// The text of a video range that stands for all with high dynamic range.
    private static let anyHighRange = "HDR"

    /// Returns a Boolean value that indicates whether a variant of a playlist satisfies the condition.
    func isSatisfied(by variant: Variant, in playlist: MultivariantPlaylist) -> Bool {
        switch self {
        case .peakBitRate(let comparison, let rate):
            variant.bandwidth.map { comparison.holds($0, rate) } ?? false
        case .averageBitRate(let comparison, let rate):
            variant.averageBandwidth.map { comparison.holds($0, rate) } ?? false
        case .frameRate(let comparison, let rate): variant.frameRate.map { comparison.holds($0, rate) } ?? false
        case .width(let comparison, let width):
            variant.resolution.map { comparison.holds($0.width, width) } ?? false
        case .height(let comparison, let height):
            variant.resolution.map { comparison.holds($0.height, height) } ?? false
        case .channels(let comparison, let count):
            playlist.channelCounts(of: variant).contains { comparison.holds($0, Int64(count)) }
        case .sampleRate(let comparison, let rate):
            playlist.audioRenditions(of: variant).contains { rendition in
                rendition.sampleRate.map { comparison.holds($0, Int64(rate)) } ?? false
            }
        case .videoRange(let range): (variant.videoRange ?? .sdr) == range
        case .highDynamicRange: (variant.videoRange ?? .sdr) != .sdr
        case .codec(let wanted):
            variant.codecs.contains { codec in
                let (codec, wanted) = (codec.lowercased(), wanted.lowercased())
                return codec == wanted || codec.hasPrefix(wanted + ".")
            }
        }
    }
}

extension VariantQualifier: CustomStringConvertible {
    /// The condition as text, from which an equal condition can be created.
    public var description: String {
        switch self {
        case .peakBitRate(let comparison, let rate):
            "\(Attribute.peakBitRate.rawValue)\(comparison.rawValue)\(rate.bitsPerSecond)"
        case .averageBitRate(let comparison, let rate):
            "\(Attribute.averageBitRate.rawValue)\(comparison.rawValue)\(rate.bitsPerSecond)"
        case .frameRate(let comparison, let rate): "\(Attribute.frameRate.rawValue)\(comparison.rawValue)\(rate)"
        case .width(let comparison, let width): "\(Attribute.width.rawValue)\(comparison.rawValue)\(width)"
        case .height(let comparison, let height): "\(Attribute.height.rawValue)\(comparison.rawValue)\(height)"
        case .channels(let comparison, let count): "\(Attribute.channels.rawValue)\(comparison.rawValue)\(count)"
        case .sampleRate(let comparison, let rate): "\(Attribute.sampleRate.rawValue)\(comparison.rawValue)\(rate)"
        case .highDynamicRange: "\(Attribute.videoRange.rawValue)=\(Self.anyHighRange)"
        case .videoRange(let range): "\(Attribute.videoRange.rawValue)=\(range.rawValue)"
        case .codec(let codec): "\(Attribute.codec.rawValue)=\(codec)"
        }
    }
}

extension MultivariantPlaylist {
    /// Returns the declared channel counts of the audio renditions of a variant.
    func channelCounts(of variant: Variant) -> [Int64] {
        audioRenditions(of: variant).compactMap { $0.channels?.count }
    }

    /// Returns the audio renditions of a variant.
    func audioRenditions(of variant: Variant) -> [Rendition] {
        guard let group = variant.groupID(.audio) else { return [] }
        return renditions.filter { $0.type == .audio && $0.groupID == group }
    }
}

extension Variant {
    /// A Boolean value that indicates whether the variant declares a lossless audio codec.
    var hasLosslessAudio: Bool {
        let lossless: Set = ["alac", "flac", "mlpa", "ipcm", "fpcm"]
        return codecs.contains { lossless.contains($0.prefix { $0 != "." }.lowercased()) }
    }
}
