import Foundation
import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing
import SharedCorpus
import Testing

/// Tests that damaged playlists are read without a trap and without losing a byte.
@Suite struct MutationTests {
    /// How many mutants each playlist gets: `MILLSTREAM_MUTATIONS`, or so many that the suite takes some ten seconds.
    private static let rounds =
        ProcessInfo.processInfo.environment["MILLSTREAM_MUTATIONS"].flatMap { Int($0) }
        ?? (SharedCorpus.isNamed ? 6 : 40)

    /// The test cases, which run beside each other.
    private static let parts = 8

    /// The playlists of the corpus; without it our own.
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
    func damagedPlaylistsAreReadWithoutTrapping(part: Int) throws {
        let sources = try Self.sources()
        #expect(sources.count >= (SharedCorpus.isNamed ? 554 : 70))
        for position in stride(from: part, to: sources.count, by: Self.parts) {
            for round in 0..<Self.rounds {
                // The same in every run, whichever parts run and in whatever order.
                var generator = SeededGenerator(seed: UInt64(position) << 20 | UInt64(round) + 1)
                let other = sources[Int.random(in: 0..<sources.count, using: &generator)].bytes
                let mutant = Mutation.damaged(sources[position].bytes, splicing: other, using: &generator)
                expectReadable(mutant, "\(sources[position].name) \(round)")
            }
        }
    }

    /// Reads everything that can be read, and sees to it that the parts agree with each other.
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

    /// Segments follow each other on the timeline, and a time is found in the one that holds it.
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

    /// Each address can be written over where it stands, and is found there again.
    private func expectReplaceableAddresses(_ playlist: Playlist, _ name: String) {
        let addresses = playlist.addresses
        var patch = PlaylistPatch()
        var end = 0
        for (position, address) in addresses.enumerated() {
            #expect(address.range.lowerBound >= end && address.range.upperBound <= playlist.bytes.count, "\(name)")
            end = address.range.upperBound
            // Where no value stands, a new one would have no place.
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
