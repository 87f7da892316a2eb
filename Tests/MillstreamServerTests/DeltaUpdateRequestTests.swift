import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import PlaylistEditing
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests the responses to requests for delta updates of edited playlists (RFC 8216bis §6.2.5.1).
@Suite struct DeltaUpdateRequestTests {
    private static func segmentLines(_ numbers: Range<Int>) -> String {
        numbers.map { "#EXTINF:4,\n\($0).ts\n" }.joined()
    }

    private static let live: String = """
        #EXTM3U
        #EXT-X-VERSION:10
        #EXT-X-TARGETDURATION:4
        #EXT-X-MEDIA-SEQUENCE:7
        #EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24,CAN-SKIP-DATERANGES=YES
        \(Self.segmentLines(7..<17))
        """

    private static let complete: String = """
        #EXTM3U
        #EXT-X-VERSION:7
        #EXT-X-TARGETDURATION:4
        #EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00.000Z
        #EXT-X-DATERANGE:ID="first",START-DATE="2020-01-01T00:00:00.000Z",DURATION=4
        \(Self.segmentLines(0..<5))
        #EXT-X-ENDLIST

        """

    private let transport: ScriptedTransport = ScriptedTransport(texts: [
        "https://h/live.m3u8": Self.live, "https://h/plain.m3u8": Self.live.replacing("CAN-SKIP-UNTIL=24,", with: ""),
        "https://h/live.m3u8?_HLS_skip=YES": "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\norigin.ts\n",
        "https://h/complete.m3u8": Self.complete,
        "https://h/top.m3u8": "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=500000\nlive.m3u8\n",
    ])

    /// Returns the response to a request a number of seconds after the start of 2026.
    private func response(to query: String, at seconds: Int64 = 0) async throws -> String {
        let start = try #require(ProgramDateTime("2026-01-01T00:00:00Z"))
        let date = start.advanced(by: MediaTime(seconds: seconds))
        var request = try PlaybackRequest(QueryItems(query))
        request.mediaAddressing = .server(SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 7, count: 32))))
        let handler = PlaybackRequestHandler(
            loader: ResourceLoader(transport),
            budget: try ServerCapacity(ServerLimits()).admit(),
            workers: .callingTask,
            date: { date }
        )
        return String(decoding: try await handler.playlist(for: request), as: UTF8.self)
    }

    private func media(_ text: String) throws -> MediaPlaylist { try MediaPlaylist(parsing: Array(text.utf8)) }

    private func segments(_ playlist: MediaPlaylist) -> [String] {
        playlist.segments.map { "\($0.sequence) \($0.uri) \($0.programDateTime?.description ?? "-")" }
    }

    @Test func updateOfAnEditedPlaylistHasItsAddresses() async throws {
        let query = "url=https://h/live.m3u8&strip-tags=EXT-X-CUE-OUT"
        let full = try media(try await response(to: query))
        let update = try media(try await response(to: query + "&_HLS_skip=YES"))
        #expect(full.skippedSegmentCount == 0 && update.skippedSegmentCount == 4 && update.segments.count == 6)
        #expect(update.segments.allSatisfy { $0.uri.hasPrefix("/segment/") })
        let merged = try full.applying(update)
        #expect(segments(merged) == segments(full))
    }

    /// The full playlist answers what this server cannot leave out, and what no player should request.
    @Test(arguments: [
        "url=https://h/live.m3u8&strip-tags=EXT-X-CUE-OUT&_HLS_skip=v2",
        "url=https://h/live.m3u8&strip-tags=EXT-X-CUE-OUT&_HLS_skip=no",
        "url=https://h/plain.m3u8&strip-tags=EXT-X-CUE-OUT&_HLS_skip=YES",
        "url=https://h/top.m3u8&strip-tags=EXT-X-CUE-OUT&_HLS_skip=YES",
        "url=https://h/complete.m3u8&strip-tags=EXT-X-CUE-OUT&_HLS_skip=YES",
        "url=https://h/complete.m3u8&live=loop&_HLS_skip=YES",
    ])
    func otherRequestsHaveTheFullPlaylist(query: String) async throws {
        let end = try #require(query.firstRange(of: "&_HLS_skip"))
        let full = try await response(to: String(query[..<end.lowerBound]))
        let found = try await response(to: query)
        #expect(found == full && !full.isEmpty)
    }

    @Test func originAnswersTheRequestForAnUneditedPlaylist() async throws {
        let text = try await response(to: "url=https://h/live.m3u8&_HLS_skip=YES")
        #expect(text.contains("origin.ts") && !text.contains("#EXT-X-SKIP"))
    }

    @Test(arguments: ["YES", "v2"]) func updateOfAChannelIsItsPlaylist(skip: String) async throws {
        let query = "url=https://h/complete.m3u8&live=loop,window=40,part=1"
        let previous = try media(try await response(to: query, at: 991))
        let full = try media(try await response(to: query, at: 1_000))
        let update = try media(try await response(to: query + "&_HLS_skip=\(skip)", at: 1_000))
        #expect(update.skippedSegmentCount > 0 && full.skippedSegmentCount == 0 && !full.dateRanges.isEmpty)
        #expect((update.recentlyRemovedDateRanges == nil) == (skip == "YES"))
        let merged = try previous.applying(update)
        #expect(segments(merged) == segments(full))
        #expect(Set(merged.dateRanges.map(\.id)) == Set(full.dateRanges.map(\.id)))
        #expect(merged.trailingParts == full.trailingParts && merged.version == full.version)
    }
}
