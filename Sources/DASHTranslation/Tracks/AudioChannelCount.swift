import DASHManifest
import MediaTiming

/// A namespace for the number of channels that an `AudioChannelConfiguration` declares.
enum AudioChannelCount {
    /// The channels of the configurations of ISO/IEC 23091-3 from 1.
    private static let configurations = [1, 2, 3, 4, 5, 6, 8, 2, 3, 4, 7, 8, 24, 8, 12, 10, 12, 14, 12, 14]
    /// The channels of the bits of a Dolby channel mask, from the least significant.
    private static let maskChannels = [1, 1, 2, 1, 2, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1]

    /// Returns the value of `CHANNELS`, or `nil` if no descriptor declares it (RFC 8216bis §4.4.6.1).
    static func value(_ descriptors: [Descriptor], supplemental: [Descriptor]) -> String? {
        let complexity = "tag:dolby.com,2018:dash:EC3_ExtensionComplexityIndex:2018"
        if let index = supplemental.first(where: { $0.scheme == complexity })?.shortValue.flatMap({ Int($0) }),
            index > 0,
            index <= 64
        {
            return "\(index)/JOC"
        }
        return descriptors.lazy.compactMap(count).first.map { String($0) }
    }

    private static func count(_ descriptor: Descriptor) -> Int? {
        guard let value = descriptor.shortValue else { return nil }
        switch descriptor.scheme {
        case "urn:mpeg:dash:23003:3:audio_channel_configuration:2011", "urn:dts:dash:audio_channel_configuration:2012",
            "tag:dts.com,2014:dash:audio_channel_configuration:2012":
            return Int(value).flatMap { (1...64).contains($0) ? $0 : nil }
        case "urn:mpeg:mpegB:cicp:ChannelConfiguration":
            return Int(value).flatMap { configurations.indices.contains($0 -| 1) ? configurations[$0 -| 1] : nil }
        case "tag:dolby.com,2014:dash:audio_channel_configuration:2011",
            "urn:dolby:dash:audio_channel_configuration:2011":
            guard let mask = UInt16(value, radix: 16), mask != 0 else { return nil }
            return maskChannels.indices.reduce(0) { sum, bit in
                mask >> UInt16(clamping: bit) & 1 == 1 ? sum + maskChannels[bit] : sum
            }
        default: return nil
        }
    }
}
