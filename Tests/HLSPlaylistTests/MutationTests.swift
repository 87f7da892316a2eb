import Foundation
import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing
import SeededRandomness
import SharedCorpus
import Testing

/// Tests that damaged playlists are parsed without a trap and without losing a byte.
@Suite struct MutationTests {
    /// The number of mutants of each playlist: `MILLSTREAM_MUTATIONS`, or a number with which the suite takes about ten
    /// seconds.
    private static let rounds =
        ProcessInfo.processInfo.environment["MILLSTREAM_MUTATIONS"].flatMap { Int($0) }
        ?? (SharedCorpus.isNamed ? 6 : 40)

    /// The number of test cases, which run in parallel.
    private static let parts = 8

    /// Returns the playlists of the corpus, or those of this target when no corpus is configured.
    private static func sources() throws -> [(name: String, bytes: [UInt8])] {
        guard SharedCorpus.isNamed else {
            return [
                ("everything", Array(Fixtures.everything.utf8)), ("multivariant", Array(Fixtures.multivariant.utf8)),
            ] + Quirk.all.map { ($0.name, $0.bytes) }
        }
        return try SharedCorpus.files(below: "corpus/hls", extensions: ["m3u8"]).map {
            ($0.path, [UInt8](try Data(contentsOf: $0)))
        }
    }

    @Test(arguments: 0..<parts)
    func damagedPlaylistsParseWithoutTrapping(part: Int) throws {
        let sources = try Self.sources()
        #expect(sources.count >= (SharedCorpus.isNamed ? 554 : 70))
        for position in stride(from: part, to: sources.count, by: Self.parts) {
            for round in 0..<Self.rounds {
                // The seed does not depend on which parts run or in which order, so every run makes the same mutants.
                var generator = SeededGenerator(seed: UInt64(position) << 20 | UInt64(round) + 1)
                let other = sources[Int.random(in: 0..<sources.count, using: &generator)].bytes
                let mutant = Mutation.damaged(sources[position].bytes, splicing: other, using: &generator)
                expectReadable(mutant, "\(sources[position].name) \(round)")
            }
        }
    }

    /// Evaluates every property of a playlist and checks that the results are consistent.
    private func expectReadable(_ bytes: [UInt8], _ name: String) {
        guard let playlist = try? Playlist.parse(bytes, context: Self.context) else { return }
        #expect(playlist.bytes == bytes, "\(name)")
        #expect(!playlist.report.json.isEmpty)
        #expect(!PlaylistReading(playlist).lines.isEmpty)
        let lineCount = bytes.count { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } + 1
        #expect(playlist.diagnostics.allSatisfy { (1...lineCount).contains($0.line ?? 1) }, "\(name)")
        if case .media(let media) = playlist { expectConsistent(media, name) }
        expectReplaceableAddresses(playlist, name)
    }

    private static let context = PlaylistContext(
        address: ResourceAddress("https://origin.example/live/list.m3u8?token=a%20b"),
        importableVariables: ["host": "cdn"]
    )

    /// Checks that segments are contiguous on the timeline and that a lookup by time finds the segment that contains
    /// it.
    private func expectConsistent(_ playlist: MediaPlaylist, _ name: String) {
        var end = MediaTime.zero
        for segment in playlist.segments {
            let range = playlist.segments.timeRange(at: segment.position)
            #expect(range.start == end && segment.start == end, "\(name)")
            #expect(segment.duration >= .zero && segment.sequence >= 0, "\(name)")
            if !range.isEmpty { #expect(playlist.segments.position(at: range.start) == segment.position, "\(name)") }
            end = range.end
        }
        #expect(playlist.duration == end, "\(name)")
        #expect(playlist.segments.position(at: end) == nil)
    }

    /// Checks that each URI can be replaced in place and that parsing finds the replacement there.
    private func expectReplaceableAddresses(_ playlist: Playlist, _ name: String) {
        let addresses = playlist.addresses
        var patch = PlaylistPatch()
        var end = 0
        for (position, address) in addresses.enumerated() {
            #expect(address.range.lowerBound >= end && address.range.upperBound <= playlist.bytes.count, "\(name)")
            end = address.range.upperBound
            // A missing value has no range to replace.
            guard !address.uri.isEmpty else { continue }
            let text = "https://other.example/\(position)"
            patch.replace(address.range, with: address.needsQuotes ? "\"\(text)\"" : text)
        }
        guard !addresses.isEmpty else { return }
        let rewritten = try? Playlist.parse(patch.applied(to: playlist.bytes), context: playlist.context)
        let expected = addresses.indices.map { addresses[$0].uri.isEmpty ? "" : "https://other.example/\($0)" }
        #expect(rewritten?.addresses.map(\.uri) == expected, "\(name)")
        #expect(rewritten?.addresses.map(\.role) == addresses.map(\.role), "\(name)")
    }
}
