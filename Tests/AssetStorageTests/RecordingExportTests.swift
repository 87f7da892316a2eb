import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

@testable import AssetStorage

/// Tests the export of recordings that have not ended.
@Suite struct RecordingExportTests {
    private let temporary: TemporaryLibrary
    private let id: String

    init() throws {
        temporary = try TemporaryLibrary()
        id = try temporary.enter()
    }

    private var library: AssetLibrary { temporary.library }
    private var folder: URL { temporary.directory.appendingPathComponent("exported") }

    private static let header = "#EXTM3U\n#EXT-X-VERSION:8\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n"

    /// Parses a live playlist whose first segment has the media sequence number 10.
    private static func live(_ lines: String...) throws -> MediaPlaylist {
        let header = ["#EXTM3U", "#EXT-X-TARGETDURATION:4", "#EXT-X-MEDIA-SEQUENCE:10"]
        return try MediaPlaylist(
            parsing: Array((header + lines + [""]).joined(separator: "\n").utf8),
            context: PlaylistContext(address: ResourceAddress(TemporaryLibrary.origin + "live.m3u8"))
        )
    }

    private static func plain() throws -> MediaPlaylist {
        try live("#EXTINF:4,", "s10.ts", "#EXTINF:4,", "s11.ts", "#EXTINF:4,", "s12.ts", "#EXTINF:4,", "s13.ts")
    }

    /// Begins the recording of a presentation.
    private func begin(_ source: Playlist, _ renditions: [PlannedRendition]) throws -> [RecordingWriter] {
        let address = ResourceAddress(TemporaryLibrary.origin + "top.m3u8")
        let writers = try library.beginRecording(of: id, source: source, at: address, renditions: renditions).writers
        try library.publishRecording(id)
        return writers
    }

    /// Adds all segments of a media playlist to a recording, and returns their files, which are not stored yet.
    private func record(_ playlist: MediaPlaylist) throws -> [StoredResource] {
        let writers = try begin(.media(playlist), [TemporaryLibrary.rendition(.variant, -1, playlist)])
        let writer = try #require(writers.first)
        return try writer.append(0..<playlist.segments.count, of: playlist).files.map(\.resource)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }

    private var names: [String] {
        get throws { try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() }
    }

    /// For example, the process was killed.
    ///
    /// The segments that it was receiving are gaps, or are left out at the end.
    @Test func interruptedRecordingIsExportedWithItsGaps() throws {
        let resources = try record(Self.plain())
        try temporary.store([resources[0], resources[2]], of: id, content: "0123456789")
        #expect(try library.isRecording(id) && !library.isBeingRecorded(id))
        #expect(try library.omittedContent(of: id).gapDuration == MediaTime(seconds: 4))
        #expect(try library.export(id, to: folder).path == folder.path + "/multivariant.m3u8")
        let segments = "#EXTINF:4,\n000000.ts\n#EXT-X-GAP\n#EXTINF:4,\n000001.ts\n#EXTINF:4,\n000002.ts\n"
        #expect(try text("media/media.m3u8") == Self.header + segments + "#EXT-X-ENDLIST\n")
        #expect(try text("multivariant.m3u8") == "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=20\nmedia/media.m3u8\n")
        let media = ["media/000000.ts", "media/000002.ts", "media/media.m3u8"]
        #expect(try names == ["media"] + media + ["multivariant.m3u8"])
        #expect(try text("media/000002.ts") == "0123456789")
        // The recording itself has not ended, so a later run can store the missing segments.
        #expect(try library.isRecording(id) && library.asset(id).state == .partial)
    }

    /// The segment before the last one is still being received.
    @Test func recordingThatContinuesIsExportedUpToItsFirstMissingSegment() throws {
        let resources = try record(Self.plain())
        try temporary.store([resources[0], resources[1], resources[3]], of: id)
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        #expect(try library.isBeingRecorded(id))
        #expect(try library.omittedContent(of: id).gapDuration == .zero)
        try library.export(id, to: folder)
        let segments = "#EXTINF:4,\n000000.ts\n#EXTINF:4,\n000001.ts\n"
        #expect(try text("media/media.m3u8") == Self.header + segments + "#EXT-X-ENDLIST\n")
        #expect(try names.filter { $0.hasSuffix(".ts") } == ["media/000000.ts", "media/000001.ts"])
    }

    @Test func recordingWithoutStoredSegmentsIsNotExported() throws {
        _ = try record(Self.plain())
        let error = storageError { try library.export(id, to: folder) }
        #expect(error?.code == "asset-incomplete")
        #expect(error?.message.hasPrefix("nothing of the recording \(id) can be exported, ") == true)
        #expect(!PathCheck.exists(folder))
    }

    /// A recording that was interrupted while its second key was missing is ended, but not complete.
    @Test(arguments: [false, true]) func segmentWithoutItsKeyIsAGap(hasEnded: Bool) throws {
        let playlist = try Self.live(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            "#EXTINF:4,",
            "s10.ts",
            #"#EXT-X-KEY:METHOD=AES-128,URI="other",IV=0x02"#,
            "#EXTINF:4,",
            "s11.ts",
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x03"#,
            "#EXTINF:4,",
            "s12.ts"
        )
        let resources = try record(playlist)
        try temporary.store(resources.filter { !$0.address.text.hasSuffix("other") }, of: id)
        if hasEnded {
            let error = storageError { _ = try library.endRecording(id, isComplete: false) }
            #expect(try error?.code == "asset-incomplete" && !library.isRecording(id))
        }
        try library.export(id, to: folder)
        let exported = try MediaPlaylist(parsing: Array(try text("media/media.m3u8").utf8))
        #expect(exported.hasEndMarker && exported.segments.map(\.isGap) == [false, true, false])
        let keys = try names.filter { $0.hasSuffix(".key") }
        #expect(keys.count == 1)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + (keys.first ?? ""))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try names.filter { $0.hasSuffix(".ts") } == ["media/000000.ts", "media/000002.ts"])
    }

    /// A rendition without stored segments is not listed.
    @Test func renditionsWithStoredSegmentsAreExported() throws {
        let playlist = try Self.plain()
        let lines = [8, 9].map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0)\n\($0).m3u8\n" }.joined()
        let source = try MultivariantPlaylist(parsing: Array("#EXTM3U\n\(lines)".utf8))
        let renditions = source.variants.indices.map {
            TemporaryLibrary.rendition(.variant, $0, playlist, variant: source.variants[$0])
        }
        let writers = try begin(.multivariant(source), renditions)
        let files = try writers.map { try $0.append(0..<1, of: playlist).files.map(\.resource) }
        try temporary.store(files[1], of: id)
        let exported = try library.export(id, to: folder)
        let multivariant = try MultivariantPlaylist(parsing: [UInt8](Data(contentsOf: exported)))
        #expect(multivariant.variants.map(\.uri) == ["variant-1/media.m3u8"])
        #expect(
            try names == ["multivariant.m3u8", "variant-1", "variant-1/000000.ts", "variant-1/media.m3u8"]
        )
    }
}
