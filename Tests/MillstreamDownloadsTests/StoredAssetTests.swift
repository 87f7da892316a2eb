import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import MediaTransport
import MillstreamTesting
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamDownloads

/// Tests the properties, the report and the export of a stored asset.
@Suite struct StoredAssetTests {
    private let temporary: TemporaryLibrary
    private static let origin = "https://origin.example/"

    init() throws { temporary = try TemporaryLibrary() }

    private static func film(missing: Set<String> = []) -> ScriptedTransport {
        var texts = [
            origin + "top.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,CODECS="avc1.64001e,mp4a.40.2",AUDIO="a"
            video.m3u8

            """,
            origin + "video.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:4,
            0.m4s
            #EXT-X-GAP
            #EXTINF:4,
            1.m4s
            #EXTINF:4,
            2.m4s
            #EXT-X-ENDLIST

            """,
            origin + "audio.m3u8": "#EXTM3U\n#EXT-X-TARGETDURATION:8\n#EXTINF:8,\na.aac\n#EXT-X-ENDLIST\n",
            origin + "init.mp4": "init", origin + "0.m4s": "zero", origin + "2.m4s": "two", origin + "a.aac": "audio",
        ]
        for name in missing { texts[origin + name] = nil }
        return ScriptedTransport(texts: texts)
    }

    private func download(missing: Set<String> = []) async throws -> StoredAsset {
        let task = AssetDownload(
            ResourceAddress(Self.origin + "top.m3u8"),
            into: temporary.library,
            loader: ResourceLoader(Self.film(missing: missing), policy: RecoveryPolicy(retries: 0))
        )
        _ = try? await task.run()
        return try #require(try temporary.library.assets().first)
    }

    private func ranges(_ pairs: (Int64, Int64)...) -> MediaTimeRangeSet {
        MediaTimeRangeSet(pairs.map { MediaTimeRange(start: MediaTime(seconds: $0), end: MediaTime(seconds: $1)) })
    }

    @Test func completeAssetIsDescribed() async throws {
        let asset = try await download()
        #expect(asset.state == .complete && asset.percent == 100 && asset.isPlayableOffline)
        #expect(asset.bytes == ByteCount(16) && asset.duration == MediaTime(seconds: 12))
        #expect(asset.loadedTimeRanges == ranges((0, 12)))
        let video = try #require(asset.renditions.first)
        #expect(video.width == 640 && video.height == 360 && video.codecs == ["avc1.64001e", "mp4a.40.2"])
        #expect(video.bandwidth == BitRate(bitsPerSecond: 800_000) && video.role == .variant && video.language == nil)
        #expect(asset.renditions.map(\.language) == [nil, "en"] && asset.renditions.allSatisfy(\.isComplete))
        let json = asset.report.json
        #expect(json.contains(#""state":"complete""#) && json.contains(#""playableOffline":true"#))
        #expect(json.contains(#""audio":["en"]"#) && json.contains(#""subtitles":[]"#) && json.contains(#""bytes":16"#))
        #expect(json.contains(#""loadedTimeRanges":[[0,12]]"#) && json.contains(#""percent":100"#), "\(json)")
    }

    /// Segments that are marked as gaps count as loaded, and an audio rendition that is shorter has no missing media
    /// after its end.
    @Test(arguments: [
        (Set(["0.m4s"]), 66.6, [4, 12], false), (Set(["2.m4s"]), 66.6, [0, 8], false),
        (Set(["a.aac"]), 33.3, [8, 12], false), (Set(["init.mp4"]), 99.9, [0, 12], false),
    ])
    func partialAssetIsDescribed(missing: Set<String>, percent: Double, loaded: [Int64], plays: Bool) async throws {
        let asset = try await download(missing: missing)
        #expect(asset.state == .partial && asset.isPlayableOffline == plays)
        #expect((asset.percent * 10).rounded(.down) / 10 == percent)
        #expect(asset.loadedTimeRanges == ranges((loaded[0], loaded[1])))
        #expect(DownloadProgress(asset).percent == asset.percent && DownloadProgress(asset).bytes == asset.bytes)
        #expect(try temporary.library.missingCount(asset.id) == 1)
        #expect(try temporary.library.missingResources(asset.id).map(\.address.lastPathComponent) == Array(missing))
        let error = #expect(throws: StorageError.self) { try temporary.library.finish(asset.id) }
        #expect(error?.code == .incomplete && error?.message.hasPrefix("1 file of ") == true)
        #expect(try temporary.library.asset(asset.id).state == .partial)
    }

    @Test(arguments: [
        ("https://h.example/films/Sintel/main.m3u8", "Sintel"), ("https://h.example/play.m3u8", "play"),
        ("https://h.example/films/Sintel.ts", "Sintel"), ("file:///films/Sintel/index.m2ts", "Sintel"),
        ("http://127.0.0.1:8080/play.m3u8?url=https%3A%2F%2Fh.example%2FSintel%2Fmain.m3u8&duration=30", "Sintel"),
        ("http://127.0.0.1:8080/play.m3u8?duration=30&url=https%3A%2F%2Fh.example%2Ffilm.mp4", "film"),
        ("http://127.0.0.1:8080/play.m3u8?url=", "play"), ("http://127.0.0.1:8080/play.m3u8?url=name", "play"),
        ("http://h/play.m3u8?url=http%3A%2F%2Fg%2Fplay.m3u8%3Furl%3Dhttp%253A%252F%252Ff%252FTears%252Fa.mpd", "a"),
    ])
    func titleIsThatOfTheSource(address: String, title: String) {
        #expect(ResourceAddress(address).defaultAssetTitle == title)
    }

    @Test func missingFilesAreListedInTheOrderOfUse() async throws {
        let asset = try await download(missing: ["init.mp4", "0.m4s", "2.m4s", "a.aac"])
        let names = try temporary.library.missingResources(asset.id).map(\.address.lastPathComponent)
        #expect(names == ["init.mp4", "0.m4s", "a.aac", "2.m4s"])
        let first = try #require(try temporary.library.missingResources(asset.id).first)
        let rest = try temporary.library.missingResources(asset.id, after: first).map(\.address.lastPathComponent)
        #expect(rest == ["0.m4s", "a.aac", "2.m4s"])
    }

    @Test func missingFilesAreListedInPages() throws {
        let files = try temporary.plannedFiles(2_500)
        #expect(files.count == 2_500)
        #expect(files.map(\.address.lastPathComponent) == (0..<2_500).map { "\($0).ts" })
        let id = try #require(try temporary.library.assets().first?.id)
        #expect(try temporary.library.missingResources(id, after: nil).count == 1_000)
        #expect(try temporary.library.missingResources(id, after: files[2_399]).map(\.id) == files[2_400...].map(\.id))
        #expect(try temporary.library.missingCount(id) == 2_500)
    }

    @Test func exportContainsOnlyTheFilesOfTheAsset() async throws {
        let asset = try await download()
        let package = temporary.library.packageDirectory(asset.id)
        try Data("x".utf8).write(to: package.appendingPathComponent("variant-0/stray.ts"))
        let folder = temporary.directory.appendingPathComponent("exported/film")
        try temporary.library.export(asset.id, to: folder)
        let names = FileManager.default.enumerator(atPath: folder.path)?.allObjects as? [String]
        let files = try #require(names).filter { $0.contains(".") }.sorted()
        let stored = try temporary.library.resources(asset.id).map(\.path)
        #expect(files == (stored + ["multivariant.m3u8", "variant-0/media.m3u8", "audio-0/media.m3u8"]).sorted())
        #expect(try Data(contentsOf: folder.appendingPathComponent("variant-0/000002.m4s")) == Data("two".utf8))
        let again = #expect(throws: StorageError.self) { try temporary.library.export(asset.id, to: folder) }
        #expect(again?.message.contains("already exists") == true)
    }

    @Test func damagedOrIncompleteAssetIsNotExported() async throws {
        let folder = temporary.directory.appendingPathComponent("exported")
        let asset = try await download()
        try Data("longer than before".utf8).write(
            to: temporary.library.packageDirectory(asset.id).appendingPathComponent("audio-0/000000.aac")
        )
        let damaged = #expect(throws: StorageError.self) { try temporary.library.export(asset.id, to: folder) }
        #expect(damaged?.code == .damaged && damaged?.message.contains("audio-0/000000.aac") == true)
        try temporary.library.removeMissingFilesFromCatalog(asset.id)
        let partial = #expect(throws: StorageError.self) { try temporary.library.export(asset.id, to: folder) }
        #expect(partial?.code == .incomplete)
        let names = try FileManager.default.contentsOfDirectory(atPath: temporary.directory.path)
        #expect(!names.contains { $0.contains("exported") })
    }

    @Test(arguments: ["stray.ts", "000000.m4s.part", "../../../catalogue.sqlite"])
    func onlyStoredFilesAreReturned(name: String) async throws {
        let asset = try await download()
        let package = temporary.library.packageDirectory(asset.id)
        try Data("x".utf8).write(to: package.appendingPathComponent("variant-0/stray.ts"))
        try Data("x".utf8).write(to: package.appendingPathComponent("variant-0/000000.m4s.part"))
        #expect(temporary.library.file("variant-0/\(name)", of: asset.id) == nil)
        #expect(temporary.library.file("variant-0/000000.m4s", of: asset.id) != nil)
        #expect(temporary.library.file("variant-0/media.m3u8", of: asset.id) != nil)
        #expect(temporary.library.file("variant-0/000000.m4s", of: "other") == nil)
        // Files that are not in the catalog are removed by the next download.
        #expect(try await download().state == .complete)
        let names = try FileManager.default.contentsOfDirectory(
            atPath: package.appendingPathComponent("variant-0").path
        )
        #expect(names.count == 4 && !names.contains("stray.ts") && !names.contains("000000.m4s.part"))
    }

    @Test func storedFilesAreForTheOwnerOnly() async throws {
        let asset = try await download()
        let package = temporary.library.packageDirectory(asset.id).path
        let names = try #require(FileManager.default.enumerator(atPath: package)?.allObjects as? [String])
        #expect(names.count > 8)
        for name in names + ["."] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(package)/\(name)")
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isFolder ? 0o700 : 0o600), "\(name)")
        }
    }
}
