import Adaptation
import Foundation
import MediaTiming
import StreamingEngine

/// The variants of a simulated stream, with the sizes of all segments.
struct SimulatedLadder: Sendable {
    /// The bit rates of the variants, in ascending order.
    let bitRates: [BitRate]
    let segmentDuration: Duration
    /// The sizes of the segments, by segment and then by variant.
    let sizes: [[ByteCount]]

    /// The maximum size of a file of a ladder, in bytes: 41 for each size of the longest ladder with the most variants.
    private static let maximumFileSize = 512 << 20

    static let origin = "https://simulation.invalid/"
    static let address = origin + "multivariant.m3u8"

    /// Creates a ladder from a JSON file; docs/formats/ladders.md describes the format.
    ///
    /// - Throws: ``Failure`` if the file cannot be read or is not a ladder.
    init(file path: String) throws {
        guard let data = try? InputFile.contents(path, limit: Self.maximumFileSize) else {
            throw Failure(.failed, "file-failed", "the file \(path) cannot be read")
        }
        guard data.count <= Self.maximumFileSize else {
            throw Failure(.badInput, "bad-ladder", "\(path): the file is larger than 512 MiB")
        }
        guard !data.isEmpty else { throw Failure(.badInput, "bad-ladder", "\(path): the file is empty") }
        let ladder: SizedLadder
        do {
            ladder = try JSONDecoder().decode(SizedLadder.self, from: data)
        } catch let error as SizedLadderError {
            throw Failure(.badInput, "bad-ladder", "\(path): \(error)")
        } catch {
            throw Failure(
                .badInput,
                "bad-ladder",
                "\(path): this is not a bit rate ladder",
                hint: #"{"segment_duration_ms":3000,"bitrates_kbps":[230,…],"segment_sizes_bits":[[886360,…],…]}"#
            )
        }
        bitRates = ladder.bitRates
        segmentDuration = ladder.segmentDuration
        sizes = ladder.sizes
    }

    /// The duration of the stream.
    var duration: Duration { segmentDuration * sizes.count }

    /// The playlists by address.
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

    /// The sizes of the segments by address.
    var media: [String: ByteCount] {
        var media: [String: ByteCount] = [:]
        for (segment, row) in sizes.enumerated() {
            for (variant, size) in row.enumerated() { media["\(Self.origin)\(variant)-\(segment).ts"] = size }
        }
        return media
    }
}
