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
        try store(Array(text.utf8), as: resource, of: id, in: library)
    }

    private static func store(
        _ bytes: [UInt8],
        as resource: StoredResource,
        of id: String,
        in library: AssetLibrary
    ) throws {
        let file = library.makePackageFile(for: resource, of: id)
        try bytes.withUnsafeBytes { try file.write($0) }
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

    /// A transport stream without samples whose program has video, subtitles of DVB, which are images, and metadata.
    private static var streamWithImages: [UInt8] {
        func packet(_ pid: Int, _ section: [UInt8]) -> [UInt8] {
            let header: [UInt8] = [0x47, 0x40 | UInt8(pid >> 8), UInt8(pid & 0xFF), 0x10, 0]
            return header + section + [UInt8](repeating: 0xFF, count: 188 - header.count - section.count)
        }
        let association: [UInt8] = [0, 0xB0, 13, 0, 1, 0xC1, 0, 0, 0, 1, 0xE1, 0, 0, 0, 0, 0]
        let descriptor: [UInt8] = [0x59, 8] + Array("fra".utf8) + [0x10, 0, 1, 0, 1]
        let others: [UInt8] = [0x1B, 0xE1, 1, 0xF0, 0, 0x15, 0xE1, 3, 0xF0, 0]
        let streams: [UInt8] = others + [6, 0xE1, 2, 0xF0, UInt8(descriptor.count)] + descriptor
        let header: [UInt8] = [2, 0xB0, UInt8(streams.count + 13), 0, 1, 0xC1, 0, 0, 0xE1, 1, 0xF0, 0]
        let tables = packet(0, association) + packet(0x100, header + streams + [0, 0, 0, 0])
        return tables + (0..<6).flatMap { _ in packet(0x1FFF, []) }
    }

    /// The subtitles are no rendition of the playlist, and files cannot have them.
    @Test func subtitlesOfImagesInSegmentsAreNoted() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("subtitles-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let library = try AssetLibrary(directory: folder.appendingPathComponent("library"))
        let address = ResourceAddress(Self.origin + "main.m3u8")
        let id = try library.addAsset(source: address, title: "A", selection: "")
        let source = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000\nv.m3u8\n"
        try library.planDownload(
            of: id,
            source: try Playlist.parse(Array(source.utf8)),
            at: address,
            renditions: [Self.rendition(.variant, nil, try Self.playlist("0.ts", "1.ts"))]
        )
        let segments = try library.missingResources(id).filter { $0.kind == .segment }
        try #require(segments.count == 2)
        let session = AssetExportSession(library, id: id)
        var options = AssetExportSession.Options(allowsPartialAsset: true)
        #expect(try await session.omittedTracks(options).isEmpty)
        // The first segment that is stored tells.
        try Self.store(Self.streamWithImages, as: segments[1], of: id, in: library)
        let omitted = try await session.omittedTracks(options)
        #expect(omitted == ["subtitles fra (dvbsub)"])
        options.omitsVideo = true
        #expect(try await session.omittedTracks(options).isEmpty)
    }
}
#endif
