import Crypto
import CryptoExtras
import Foundation
import MediaTiming
import MillstreamTesting

/// A kind of stream, of one minute on demand except for live.
enum StreamShape: String, CaseIterable, Sendable {
    /// Audio and video muxed in transport streams, with three variants.
    case muxed
    /// Fragmented MP4 with initialization sections, and with separate audio and subtitles.
    case separate
    /// One file for each variant, whose segments are byte ranges.
    case ranges
    /// Encrypted segments, with a new key for every third segment.
    case encrypted
    /// Other media between discontinuities, and gaps.
    case stitched
    /// Variants whose segment boundaries differ.
    case unaligned
    /// A live stream.
    case live

    static let rates = [300_000, 900_000, 2_400_000]

    var isLive: Bool { self == .live }

    /// Returns the resource at a path.
    func resource(_ path: String, _ now: Duration) -> SyntheticOrigin.Resource? {
        if path == "main.m3u8" { return .text(multivariant) }
        let parts = path.split(separator: "-", maxSplits: 1).map(String.init)
        guard parts.count == 2, let variant = Int(parts[0]) else { return nil }
        let rate = variant < Self.rates.count ? Self.rates[variant] : 64_000
        switch parts[1] {
        case "media.m3u8": return .text(media(variant, now))
        case "init.mp4": return .media(ByteCount(800))
        case "file.ts": return .media(ByteCount(Int64(rate) / 8 * 60))
        case let name where name.hasPrefix("key"): return .bytes(Array(repeating: 7, count: 16))
        default:
            guard let number = Int(parts[1].prefix { $0.isNumber }) else { return nil }
            if self == .live, number >= live(variant).count(at: now) { return nil }
            guard self == .encrypted else { return .media(ByteCount(Int64(rate) / 8 * Int64(duration(variant)))) }
            return .bytes(Self.encrypted(number, size: rate / 8 * 6))
        }
    }

    private var multivariant: String {
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n"
        if self == .separate {
            text += """
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="7-media.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="Korean",LANGUAGE="ko",URI="8-media.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",DEFAULT=YES,URI="9-media.m3u8"

                """
        }
        for (variant, rate) in Self.rates.enumerated() {
            text += "#EXT-X-STREAM-INF:BANDWIDTH=\(rate)" + (self == .separate ? #",AUDIO="a",SUBTITLES="s""# : "")
            text += "\n\(variant)-media.m3u8\n"
        }
        return text
    }

    /// Returns the duration of a segment, in seconds.
    private func duration(_ variant: Int) -> Int { self == .unaligned ? [4, 5, 6][min(variant, 2)] : 6 }

    private func live(_ variant: Int) -> LiveText { LiveText(prefix: "\(variant)-") }

    private func media(_ variant: Int, _ now: Duration) -> String {
        if self == .live { return live(variant).text(at: now) }
        let duration = duration(variant)
        var text = "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:\(duration)\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        if self == .separate { text += "#EXT-X-MAP:URI=\"\(variant)-init.mp4\"\n" }
        for number in 0..<(60 / duration) {
            if self == .encrypted, number % 3 == 0 {
                text +=
                    "#EXT-X-KEY:METHOD=AES-128,URI=\"\(variant)-key\(number)\",IV=0x00000000000000000000000000000001\n"
            }
            if self == .stitched, number == 4 || number == 6 { text += "#EXT-X-DISCONTINUITY\n" }
            if self == .stitched, number == 8, variant == 1 { text += "#EXT-X-GAP\n" }
            text += "#EXTINF:\(duration),\n"
            if self == .ranges {
                let size = Self.rates[variant] / 8 * duration
                text += "#EXT-X-BYTERANGE:\(size)@\(number * size)\n\(variant)-file.ts\n"
            } else {
                text += "\(variant)-\(number).\(self == .separate ? "m4s" : "ts")\n"
            }
        }
        return text + "#EXT-X-ENDLIST\n"
    }

    /// Returns an encrypted segment of the given size.
    private static func encrypted(_ number: Int, size: Int) -> [UInt8] {
        let key = SymmetricKey(data: Array(repeating: UInt8(7), count: 16))
        guard let iv = try? AES._CBC.IV(ivBytes: Array(repeating: UInt8(0), count: 15) + [1]),
            let data = try? AES._CBC.encrypt(Array(repeating: UInt8(0x47), count: size / 100), using: key, iv: iv)
        else { return [] }
        return Array(data)
    }
}
