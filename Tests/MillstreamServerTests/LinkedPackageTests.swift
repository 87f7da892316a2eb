import AssetStorage
import Foundation
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests packages in which a folder is a symbolic link.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LinkedPackageTests {
    /// Files outside of the library are neither sent nor changed; the media is that of the origin.
    @Test func linkedFolderLeadsNowhere() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let files = FileManager.default
            stage.serve("/film.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nfilm.ts\n#EXT-X-ENDLIST\n")
            stage.origin.set("/film.ts", .init(Array("segment of film".utf8), contentType: "video/mp2t"))
            stage.origin.behave("/film.ts", .proper)
            let transport = HTTPTransport()
            let task = AssetDownload(
                ResourceAddress(stage.origin.address("/film.m3u8")),
                into: try AssetLibrary(directory: stage.library),
                loader: ResourceLoader(transport, policy: RecoveryPolicy(retries: 0))
            )
            let asset = try await task.run()
            try await transport.shutdown()
            let base = "/offline/\(asset.id)/media"
            #expect(try await stage.ask("\(base)/000000.ts").body == "segment of film")
            let folder = stage.library.appendingPathComponent("packages/\(asset.id)/media")
            let outside = stage.library.appendingPathExtension("outside")
            defer { try? files.removeItem(at: outside) }
            try files.moveItem(at: folder, to: outside)
            // The other content has the size of the segment, and a file beside it is not in the catalog.
            try Data("secret of a man".utf8).write(to: outside.appendingPathComponent("000000.ts"))
            try Data("secret".utf8).write(to: outside.appendingPathComponent("secret.ts"))
            try files.createSymbolicLink(at: folder, withDestinationURL: outside)
            for name in ["media.m3u8", "secret.ts"] {
                let response = try await stage.ask("\(base)/\(name)")
                #expect(response.status == 404 && response.errorCode == "not-found", "\(name): \(response.body)")
            }
            let segment = try await stage.ask("\(base)/000000.ts")
            #expect(segment.status == 200 && segment.body == "segment of film", "\(segment.body)")
            stage.origin.behave("/film.ts", .status(404))
            let failed = try await stage.ask("\(base)/000000.ts")
            #expect(failed.status == 502 && !failed.body.contains("secret of"), "\(failed.body)")
            let text = try String(contentsOf: outside.appendingPathComponent("000000.ts"), encoding: .utf8)
            #expect(text == "secret of a man")
            let names = try files.contentsOfDirectory(atPath: outside.path).sorted()
            #expect(names == ["000000.ts", "media.m3u8", "secret.ts"])
        }
    }
}
