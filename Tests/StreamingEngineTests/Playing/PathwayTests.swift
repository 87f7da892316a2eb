import MediaTransport
import MillstreamTesting
import PlaybackReporting
import StreamingEngine
import Testing

/// Tests of the pathway that is used until a steering manifest is loaded (RFC 8216bis §4.4.6.6).
@Suite struct PathwayTests {
    /// Returns a playlist with one variant on both pathways, and one on each pathway that the other does not have.
    private static func multivariant(pathway: String?) -> String {
        let attribute = pathway.map { ",PATHWAY-ID=\"\($0)\"" } ?? ""
        return """
            #EXT-X-CONTENT-STEERING:SERVER-URI="steering.json"\(attribute)
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.4d401e",RESOLUTION=640x360,PATHWAY-ID="one"
            a.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=900000,CODECS="avc1.4d401e",RESOLUTION=960x540,PATHWAY-ID="one"
            b.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.4d401e",RESOLUTION=640x360,PATHWAY-ID="two"
            c.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=800000,CODECS="avc1.4d401e",RESOLUTION=960x540,PATHWAY-ID="two"
            d.m3u8
            """
    }

    private static let names = ["a", "b", "c", "d"]

    /// Returns the names of the playlists that were requested.
    private static func requestedPlaylists(_ stream: TextStreamPlayback) -> Set<String> {
        Set(names.filter { stream.transport.requestedAddresses.contains("\(TextStreamPlayback.origin)\($0).m3u8") })
    }

    @Test(arguments: [("one", ["a", "b"]), ("two", ["c", "d"])] as [(String, Set<String>)])
    func onlyVariantsOfTheInitialPathwayAreFetched(pathway: String, expected: Set<String>) async throws {
        let texts = TextStreamPlayback.texts(Self.multivariant(pathway: pathway), Self.names)
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        let requested = Self.requestedPlaylists(stream)
        #expect(!requested.isEmpty && requested.isSubset(of: expected))
    }

    @Test(arguments: [nil, "three"] as [String?])
    func anyPathwayIsUsedWithoutAKnownInitialPathway(pathway: String?) async throws {
        let texts = TextStreamPlayback.texts(Self.multivariant(pathway: pathway), Self.names)
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(!Self.requestedPlaylists(stream).isDisjoint(with: ["a", "b"]))
    }

    @Test func anotherPathwayIsUsedAfterTheInitialOneFails() async throws {
        var texts = TextStreamPlayback.texts(Self.multivariant(pathway: "two"), Self.names)
        for name in ["c", "d"] { texts["\(TextStreamPlayback.origin)\(name).m3u8"] = nil }
        let stream = try await TextStreamPlayback.playedOut(texts)
        #expect(stream.engine.snapshot.hasPlayedToEnd)
        #expect(!Self.requestedPlaylists(stream).isDisjoint(with: ["a", "b"]))
    }
}
