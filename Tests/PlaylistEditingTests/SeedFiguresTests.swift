import Foundation
import HLSPlaylist
import MediaTiming
import PlaylistEditing
import SharedCorpus
import Testing

/// Tests of the exact numbers in the founding document of the project.
@Suite(.enabled(if: SharedCorpus.isNamed, "MILLSTREAM_SHARED names no folder"))
struct SeedFiguresTests {
    private func file(_ name: String) throws -> [UInt8] { try SharedCorpus.bytes("corpus/hls/seed/\(name)") }

    @Test(arguments: ["", ".compact"])
    func bitRateLimitKeepsThreeVariantsInOrder(form: String) throws {
        let playlist = try MultivariantPlaylist(parsing: file("bipbop_4x3_variant.as-is\(form).m3u8"))
        let range = try #require(PartialRange<BitRate>("900000...4000000"))
        let limited = try playlist.limited(to: range)
        #expect(limited.variants.compactMap(\.bandwidth?.bitsPerSecond) == [991_714, 1_927_833, 3_662_882])
        #expect(limited.bytes == (try file("bipbop_4x3_variant.to-be\(form).m3u8")))
    }

    @Test func durationLimitKeepsThreeSegments() throws {
        let playlist = try MediaPlaylist(parsing: file("720p.media.m3u8"))
        #expect(playlist.duration.description == "109.74337")
        let preview = try playlist.limited(to: MediaTime(seconds: 30))
        #expect(preview.segments.count == 3 && preview.duration.description == "29.93001")
        #expect(preview.bytes == (try file("720p.preview30.m3u8")))
    }

    @Test func stitchingUsesTheLargerTargetDuration() throws {
        let content = try MediaPlaylist(parsing: file("720p.preview30.m3u8"))
        let advertisement = try MediaPlaylist(parsing: file("720p.ad20.m3u8"))
        let stitched = try content.appending(advertisement)
        #expect(stitched.duration.description == "49.93001" && stitched.targetDuration == MediaTime(seconds: 10))
        #expect(stitched.segments.filter(\.hasDiscontinuity).map(\.position) == [3])
        #expect(stitched.bytes == (try file("720p.stitched.m3u8")))
    }
}
