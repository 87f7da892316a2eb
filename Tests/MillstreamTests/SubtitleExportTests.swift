#if Playback
import AssetStorage
import Foundation
import HLSPlaylist
import Millstream
import ResourceAddressing
import Testing

/// Tests the export of the subtitles of assets that are not complete.
@Suite struct SubtitleExportTests {
    private static let origin = "https://origin.example/"

    private static let source = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="English",LANGUAGE="en",URI="s.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=800000,SUBTITLES="s"
        v.m3u8

        """

    private static func playlist(_ names: String...) throws -> MediaPlaylist {
        let segments = names.map { "#EXTINF:4,\n\($0)\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)#EXT-X-ENDLIST\n"
        return try MediaPlaylist(
            parsing: Array(text.utf8),
            context: PlaylistContext(address: ResourceAddress(origin + "media.m3u8"))
        )
    }

    private static func rendition(
        _ role: StoredRendition.Role,
        _ language: String?,
        _ playlist: MediaPlaylist
    ) -> PlannedRendition {
        PlannedRendition(
            role: role,
            position: 0,
            language: language,
            variant: nil,
            playlist: playlist,
            address: ResourceAddress(origin + "media.m3u8")
        )
    }

    private static func store(
        _ text: String,
        as resource: StoredResource,
        of id: String,
        in library: AssetLibrary
    ) throws {
        let file = library.makePackageFile(for: resource, of: id)
        try Array(text.utf8).withUnsafeBytes { try file.write($0) }
        try file.finish()
        try library.commit([WrittenFile(resource, file)])
    }

    /// Files of subtitles can be written without any stored video.
    @Test func completeSubtitlesNeedNoVideo() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("subtitles-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder.appendingPathComponent("library"))
        let address = ResourceAddress(Self.origin + "main.m3u8")
        let id = try library.addAsset(source: address, title: "A", selection: "")
        try library.planDownload(
            of: id,
            source: try Playlist.parse(Array(Self.source.utf8)),
            at: address,
            renditions: [
                Self.rendition(.variant, nil, try Self.playlist("0.ts", "1.ts")),
                Self.rendition(.subtitles, "en", try Self.playlist("0.vtt", "1.vtt")),
            ]
        )
        let subtitles = try library.missingResources(id).filter { $0.kind == .subtitle }
        try #require(subtitles.count == 2)
        let session = AssetExportSession(library, id: id)
        let target = folder.appendingPathComponent("exported").path
        let first = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nOne\n"
        try Self.store(first, as: subtitles[0], of: id, in: library)
        let error = await #expect(throws: StorageError.self) { try await session.exportSubtitles(to: target) }
        #expect(error?.code == .incomplete)
        let second = "WEBVTT\n\n00:00:05.000 --> 00:00:06.000\nTwo\n"
        try Self.store(second, as: subtitles[1], of: id, in: library)
        #expect(try library.asset(id).state == .partial)
        let names = try await session.exportSubtitles(to: target)
        #expect(names == ["en.srt"])
        let text = try String(contentsOfFile: target + "/en.srt", encoding: .utf8)
        #expect(text.hasPrefix("1\n00:00:01,000 --> 00:00:02,000\nOne\n\n2\n00:00:05,000 --> "), "\(text)")
    }
}
#endif
