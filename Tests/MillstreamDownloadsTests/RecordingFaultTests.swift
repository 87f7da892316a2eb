import HLSPlaylist
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import AssetStorage
@testable import MillstreamDownloads

/// Tests how a recording finds the present URL of a playlist, and how stored media is described.
@Suite(.timeLimit(.minutes(5))) struct RecordingFaultTests {
    private static let source = ResourceAddress("https://live.example/live.m3u8")
    private static let moved = ResourceAddress("https://cdn.example/live.m3u8")
    private static let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n0.ts\n#EXTINF:4,\n1.ts\n"
    private static let unavailable = ScriptedTransport.Response.failure(
        TransportError(.status, "not available", status: 404)
    )
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private func track() throws -> RecordingTrack {
        let playlist = try MediaPlaylist(
            parsing: Array(Self.text.utf8),
            context: PlaylistContext(address: Self.source)
        )
        let recording = try temporary.beginRecording(of: playlist, at: Self.source, segmentCount: 2)
        return RecordingTrack(recording.writer, PlannedRendition(only: playlist, at: Self.source))
    }

    /// The URL that another track has found is used, unless this URL no longer works.
    @Test func addressThatIsKnownIsTriedFirst() async throws {
        let transport = ScriptedTransport([
            Self.source.text: [.redirected(to: Self.moved, Array(Self.text.utf8))],
            Self.moved.text: [.text(Self.text)],
        ])
        var resolver = DownloadResolver(
            loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0)),
            selection: DownloadSelection()
        )
        resolver.acceptsLive = true
        let renewal = RecordingRenewal()
        let track = try track()
        var found: [ResourceAddress?] = []
        for former in [Self.source, Self.source, Self.moved, nil] as [ResourceAddress?] {
            let renewed = await renewal.renew(track, after: former, resolver, Self.source)
            #expect(renewed?.0.segments.count == 2)
            found.append(renewed?.1)
        }
        #expect(found == [Self.moved, Self.moved, Self.moved, Self.moved])
        let (source, moved) = (Self.source.text, Self.moved.text)
        #expect(transport.requestedAddresses == [source, moved, source, source])
        // If the known URL does not work, the source has one that works.
        transport.setResponses(for: moved, Self.unavailable)
        let again = await renewal.renew(track, after: Self.source, resolver, Self.source)
        #expect(again?.1 == Self.moved)
        #expect(transport.requestedAddresses == [source, moved, source, source, moved, source])
        transport.setResponses(for: source, Self.unavailable)
        let none = await renewal.renew(track, after: nil, resolver, Self.source)
        #expect(none?.1 == nil)
    }

    /// A playlist with another role, or at another position, belongs to another track.
    @Test(arguments: [(-1, StoredRendition.Role.variant, true), (0, .variant, false), (-1, .audio, false)])
    func trackIsThatOfItsRoleAndPosition(position: Int, role: StoredRendition.Role, isSame: Bool) throws {
        let track = try track()
        let rendition = PlannedRendition(
            role: role,
            position: position,
            language: nil,
            variant: nil,
            playlist: track.playlist,
            address: Self.source
        )
        #expect(track.isRecording(rendition) == isSame)
    }

    /// The audio of a source without variants is described by its first segment.
    @Test func firstSegmentDescribesTheAudio() throws {
        let file = try #require(try temporary.plannedFiles(1).first)
        // An ADTS frame of 107 bytes.
        let frame: [UInt8] = [0xFF, 0xF1, 0x4C, 0x80, 0x0D, 0x7F, 0xFC] + [UInt8](repeating: 0x21, count: 100)
        try temporary.store((0..<8).flatMap { _ in frame }, as: file, of: file.assetID)
        try temporary.library.describeMedia(of: file.assetID)
        let rendition = try #require(try temporary.library.asset(file.assetID).renditions.first)
        #expect(rendition.audioLanguages == ["und"] && rendition.subtitleLanguages.isEmpty)
        #expect(rendition.width == nil && rendition.height == nil)
    }
}
