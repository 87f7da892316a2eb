public import HLSPlaylist
public import MediaTiming

/// A condition that a variant must satisfy to be downloaded.
///
/// A variant that does not declare the attribute does not satisfy the condition, except that a variant without a video
/// range has standard dynamic range (RFC 8216bis §4.4.6.2).
public enum VariantQualifier: Sendable, Hashable {
    /// A condition on the peak bit rate.
    case peakBitRate(Comparison, BitRate)
    /// A condition on the width of the video in pixels.
    case width(Comparison, Int)
    /// A condition on the height of the video in pixels.
    case height(Comparison, Int)
    /// A condition on the number of channels of an audio rendition of the variant.
    case channels(Comparison, Int)
    /// The dynamic range of the video.
    case videoRange(VideoRange)
    /// A codec of the variant: an RFC 6381 identifier such as `avc1.64001f`, or its first part, such as `avc1`.
    case codec(String)

    /// A comparison of an attribute with a value.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// The attribute is at least the value.
        case atLeast = ">="
        /// The attribute is at most the value.
        case atMost = "<="
        /// The attribute is equal to the value.
        case equal = "="

        func holds<Value: Comparable>(_ attribute: Value, _ value: Value) -> Bool {
            switch self {
            case .atLeast: attribute >= value
            case .atMost: attribute <= value
            case .equal: attribute == value
            }
        }
    }

    /// The names of the attributes in the text of a condition.
    enum Attribute: String, CaseIterable {
        case peakBitRate = "peak-rate"
        case width
        case height
        case channels
        case videoRange = "video-range"
        case codec
    }

    /// Parses a condition such as `peak-rate<=5M`, `height>=720`, `channels>=6`, `video-range=PQ` or `codec=hvc1`.
    ///
    /// The result is `nil` for any other text; the last two attributes can only be compared with `=`.
    public init?(_ text: some StringProtocol) {
        guard let start = text.firstIndex(where: { "<>=".contains($0) }),
            let attribute = Attribute(rawValue: String(text[..<start])),
            let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
        else { return nil }
        let value = String(text[start...].dropFirst(comparison.rawValue.count))
        switch attribute {
        case .peakBitRate:
            guard let rate = BitRate(value) else { return nil }
            self = .peakBitRate(comparison, rate)
        case .width, .height, .channels:
            guard let number = Int(value), number >= 0 else { return nil }
            self =
                attribute == .width
                ? .width(comparison, number)
                : attribute == .height ? .height(comparison, number) : .channels(comparison, number)
        case .videoRange:
            guard comparison == .equal, !value.isEmpty else { return nil }
            self = .videoRange(VideoRange(rawValue: value.uppercased()))
        case .codec:
            guard comparison == .equal, !value.isEmpty else { return nil }
            self = .codec(value)
        }
    }

    /// Returns a Boolean value that indicates whether a variant of a playlist satisfies the condition.
    func isSatisfied(by variant: Variant, in playlist: MultivariantPlaylist) -> Bool {
        switch self {
        case .peakBitRate(let comparison, let rate):
            variant.bandwidth.map { comparison.holds($0, rate) } ?? false
        case .width(let comparison, let width):
            variant.resolution.map { comparison.holds($0.width, width) } ?? false
        case .height(let comparison, let height):
            variant.resolution.map { comparison.holds($0.height, height) } ?? false
        case .channels(let comparison, let count):
            playlist.channelCounts(of: variant).contains { comparison.holds($0, Int64(count)) }
        case .videoRange(let range): (variant.videoRange ?? .sdr) == range
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
        case .width(let comparison, let width): "\(Attribute.width.rawValue)\(comparison.rawValue)\(width)"
        case .height(let comparison, let height): "\(Attribute.height.rawValue)\(comparison.rawValue)\(height)"
        case .channels(let comparison, let count): "\(Attribute.channels.rawValue)\(comparison.rawValue)\(count)"
        case .videoRange(let range): "\(Attribute.videoRange.rawValue)=\(range.rawValue)"
        case .codec(let codec): "\(Attribute.codec.rawValue)=\(codec)"
        }
    }
}

extension MultivariantPlaylist {
    /// Returns the declared channel counts of the audio renditions of a variant.
    func channelCounts(of variant: Variant) -> [Int64] {
        guard let group = variant.groupID(.audio) else { return [] }
        return renditions.lazy.filter { $0.type == .audio && $0.groupID == group }.compactMap { $0.channels?.count }
    }
}

extension Variant {
    /// A Boolean value that indicates whether the variant declares a lossless audio codec.
    var hasLosslessAudio: Bool {
        let lossless: Set = ["alac", "flac", "mlpa", "ipcm", "fpcm"]
        return codecs.contains { lossless.contains($0.prefix { $0 != "." }.lowercased()) }
    }
}
