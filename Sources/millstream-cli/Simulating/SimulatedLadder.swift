import Foundation
import MediaTiming
import StreamingEngine

/// The variants of a stream that exists only in a simulation, and the sizes of all its segments.
struct SimulatedLadder: Sendable {
    /// In ascending order.
    let bitRates: [BitRate]
    let segmentDuration: Duration
    /// By segment, then by variant.
    let sizes: [[ByteCount]]

    static let origin = "https://simulation.invalid/"
    static let address = origin + "multivariant.m3u8"

    private static let mostVariants = 64
    private static let mostSegments = 200_000

    /// Reads the form of the field's simulators.
    ///
    /// - Throws: ``Failure`` where it is no ladder.
    init(file path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure(.failed, "file-failed", "the file \(path) cannot be read")
        }
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: data)
        } catch {
            throw Failure(
                .badInput,
                "bad-ladder",
                "\(path): this is no ladder",
                hint: #"{"segment_duration_ms":3000,"bitrates_kbps":[230,…],"segment_sizes_bits":[[886360,…],…]}"#
            )
        }
        func refused(_ reason: String) -> Failure { Failure(.badInput, "bad-ladder", "\(path): \(reason)") }
        guard (1...Self.mostVariants).contains(file.bitRates.count), (1...Self.mostSegments).contains(file.sizes.count)
        else { throw refused("1 to \(Self.mostVariants) variants and 1 to \(Self.mostSegments) segments are wanted") }
        guard file.bitRates == file.bitRates.sorted(), file.bitRates.allSatisfy({ (0.001...100_000_000).contains($0) })
        else { throw refused("the bit rates have to ascend from more than zero") }
        guard (1...3_600_000).contains(file.duration) else {
            throw refused("the duration of a segment is out of range")
        }
        guard file.sizes.allSatisfy({ $0.count == file.bitRates.count && $0.allSatisfy { (1...2e9).contains($0) } })
        else { throw refused("each segment wants a size for each variant, in bits, from 1 to 2,000,000,000") }
        bitRates = file.bitRates.map { BitRate(bitsPerSecond: Int64(saturating: ($0 * 1000).rounded())) }
        segmentDuration = .microseconds(Int64(saturating: (file.duration * 1000).rounded()))
        sizes = file.sizes.map { row in row.map { ByteCount(Int64(saturating: ($0 / 8).rounded(.up))) } }
    }

    /// How long it lasts.
    var duration: Duration { segmentDuration * sizes.count }

    /// The playlists by their addresses.
    var playlists: [String: String] {
        var texts: [String: String] = [:]
        var multivariant = "#EXTM3U\n#EXT-X-INDEPENDENT-SEGMENTS\n"
        let seconds = MediaTime(segmentDuration)
        for (variant, rate) in bitRates.enumerated() {
            multivariant += "#EXT-X-STREAM-INF:BANDWIDTH=\(rate.bitsPerSecond)\n\(variant).m3u8\n"
            var media =
                "#EXTM3U\n#EXT-X-TARGETDURATION:\(Int64(saturating: seconds.seconds.rounded(.up)))\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            for segment in sizes.indices { media += "#EXTINF:\(seconds),\n\(variant)-\(segment).ts\n" }
            texts["\(Self.origin)\(variant).m3u8"] = media + "#EXT-X-ENDLIST\n"
        }
        texts[Self.address] = multivariant
        return texts
    }

    /// The sizes of the segments by their addresses.
    var media: [String: ByteCount] {
        var media: [String: ByteCount] = [:]
        for (segment, row) in sizes.enumerated() {
            for (variant, size) in row.enumerated() { media["\(Self.origin)\(variant)-\(segment).ts"] = size }
        }
        return media
    }

    private struct File: Decodable {
        let duration: Double
        let bitRates: [Double]
        let sizes: [[Double]]

        enum CodingKeys: String, CodingKey {
            case duration = "segment_duration_ms"
            case bitRates = "bitrates_kbps"
            case sizes = "segment_sizes_bits"
        }
    }
}
