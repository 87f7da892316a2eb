import AssetStorage
import Foundation
import HLSPlaylist
import ResourceAddressing
import Testing

/// Tests the recordings that the server sends to players.
@Suite(.timeLimit(.minutes(10))) struct InterruptedRecordingTests {
    /// A recording is live as long as a process holds its lock.
    @Test func recordingHasEndedUnlessItIsBeingRecorded() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let library = try AssetLibrary(directory: stage.library)
            let id = try Self.record(in: library)
            func ask(_ path: String) async throws -> String {
                let response = try await stage.ask("/offline/\(id)/\(path)")
                #expect(response.status == 200, "\(response.body)")
                return response.body
            }
            func askDuringRecording(_ path: String) async throws -> String {
                let lock = try library.lock(id)
                defer { withExtendedLifetime(lock) {} }
                return try await ask(path)
            }
            for query in ["", "?absolute"] {
                let path = "media/media.m3u8\(query)"
                let live = try await askDuringRecording(path)
                #expect(live.contains("#EXT-X-PLAYLIST-TYPE:EVENT") && !live.contains("#EXT-X-ENDLIST"), "\(live)")
                let ended = try await ask(path)
                #expect(ended.contains("#EXT-X-PLAYLIST-TYPE:VOD") && ended.contains("#EXT-X-ENDLIST"), "\(ended)")
                let continued = try await askDuringRecording(path)
                #expect(!continued.contains("#EXT-X-ENDLIST"), "\(continued)")
            }
            let top = try await ask("multivariant.m3u8")
            #expect(top.contains("BANDWIDTH=10\n"), "\(top)")
        }
    }

    /// Records one segment of a media playlist, of five bytes and four seconds, without an end; returns the identifier.
    private static func record(in library: AssetLibrary) throws -> String {
        let source = ResourceAddress("https://live.example/live.m3u8")
        let id = try library.addAsset(source: source, title: "Live", selection: "")
        let lock = try library.lock(id)
        defer { withExtendedLifetime(lock) {} }
        let playlist = try MediaPlaylist(
            parsing: Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\na.ts\n".utf8),
            context: PlaylistContext(address: source)
        )
        let (writers, _) = try library.beginRecording(
            of: id,
            source: .media(playlist),
            at: source,
            renditions: [
                PlannedRendition(
                    role: .variant,
                    position: -1,
                    language: nil,
                    variant: nil,
                    playlist: playlist,
                    address: source
                )
            ]
        )
        try library.publishRecording(id)
        for writer in writers {
            for file in try writer.append(0..<1, of: playlist).files {
                let written = library.makePackageFile(for: file.resource, of: id)
                try Array("media".utf8).withUnsafeBytes { try written.write($0) }
                try written.finish()
                try library.commit([WrittenFile(file.resource, written)])
                try writer.settle(file.position)
            }
        }
        return id
    }
}
