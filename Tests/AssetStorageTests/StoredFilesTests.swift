import AssetStorage
import Foundation
import GRDB
import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing
import Testing

/// Tests how files are stored, removed from the catalog, verified and listed.
@Suite struct StoredFilesTests {
    private let temporary: TemporaryLibrary

    init() throws { temporary = try TemporaryLibrary() }

    private var library: AssetLibrary { temporary.library }

    /// Plans an asset with the given number of segments of one second each.
    private func plan(_ count: Int) throws -> String {
        let lines = (0..<count).map { "#EXTINF:1,\n\($0).ts\n" }.joined()
        return try temporary.planned(try TemporaryLibrary.media(lines))
    }

    private func execute(_ sql: String) throws {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        try database.write { try $0.execute(sql: sql) }
    }

    /// Returns the stored sizes and checksums in the catalog.
    private func rows() throws -> [String] {
        let database = try DatabaseQueue(path: temporary.directory.path + "/catalogue.sqlite")
        return try database.read { database in
            try Row.fetchAll(database, sql: "SELECT path, bytes, checksum FROM resource ORDER BY id").map { row in
                let (path, bytes, checksum): (String, Int64?, Int64?) = (row["path"], row["bytes"], row["checksum"])
                return "\(path) \(bytes.map(String.init) ?? "-") \(checksum == nil ? "-" : "sum")"
            }
        }
    }

    private func paths(_ id: String) throws -> [String] { try library.missingResources(id).map(\.path) }

    // MARK: Listing

    @Test func missingFilesAreListedByStartTimeInPagesOfAThousand() throws {
        let id = try plan(1_001)
        let all = (0..<1_001).map { "media/" + String("\(1_000_000 + $0)".dropFirst()) + ".ts" }
        #expect(try paths(id) == all)
        let first = try library.missingResources(id, after: nil)
        #expect(first.map(\.path) == Array(all[..<1_000]))
        let rest = try library.missingResources(id, after: first.last)
        #expect(rest.map(\.path) == [all[1_000]])
        #expect(try library.missingResources(id, after: rest.last) == [])
        #expect(try library.missingResources(id, after: first[998]).count == 2)
        #expect(try library.missingCount(id) == 1_001)
        // Missing files on the second page are also found.
        try temporary.store(library.missingResources(id), of: id)
        #expect(try library.missingCount(id) == 0)
        for path in [all[999], all[1_000]] { try FileManager.default.removeItem(at: temporary.url(path, of: id)) }
        #expect(try library.removeMissingFilesFromCatalog(id) == [all[999], all[1_000]])
        #expect(try paths(id) == [all[999], all[1_000]])
    }

    @Test func unknownAssetsHaveNoFiles() throws {
        for body in [
            { _ = try library.resources("none") }, { _ = try library.missingCount("none") },
            { _ = try library.missingResources("none") }, { _ = try library.missingResources("none", after: nil) },
            { _ = try library.removeMissingFilesFromCatalog("none") }, { _ = try library.asset("none") },
            { try library.finish("none") }, { try library.export("none", to: temporary.directory) },
        ] as [() throws -> Void] {
            let error = storageError { try body() }
            #expect(error?.code == "not-found")
            #expect(error?.message == "the library has no asset none")
        }
    }

    @Test func invalidRowHasNoByteRange() throws {
        let id = try plan(1)
        try execute("UPDATE resource SET rangeStart = 5, rangeLength = NULL, start = 'x'")
        let resource = try #require(try library.resources(id).first)
        #expect(resource.byteRange == nil)
        #expect(resource.timeRange == MediaTimeRange(start: .zero, duration: .zero))
        try execute("UPDATE resource SET rangeStart = 5, rangeLength = 7, start = '3', duration = '2'")
        let ranged = try #require(try library.resources(id).first)
        #expect(ranged.byteRange == ByteRange(start: 5, length: 7))
        #expect(ranged.timeRange == MediaTimeRange(start: MediaTime(seconds: 3), duration: MediaTime(seconds: 2)))
    }

    // MARK: Files that cannot be examined

    @Test func fileThatCannotBeExaminedIsNotDamaged() throws {
        let id = try plan(2)
        try temporary.complete(id)
        try FileManager.default.removeItem(at: temporary.url("media/000000.ts", of: id))
        let folder = temporary.url("media", of: id)
        let moved = temporary.url("elsewhere", of: id)
        try FileManager.default.moveItem(at: folder, to: moved)
        // A path through a link to itself is an error, but does not mean that there is no file.
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: folder)
        let before = try rows()
        let error = storageError { _ = try library.verify(id) }
        #expect(error?.code == "disk-failed" && error?.message.contains("media/000000.ts cannot be read") == true)
        #expect(storageError { _ = try library.removeMissingFilesFromCatalog(id) }?.code == "disk-failed")
        #expect(try rows() == before)
        try FileManager.default.removeItem(at: folder)
        try FileManager.default.moveItem(at: moved, to: folder)
        #expect(try library.verify(id).damaged == ["media/000000.ts"])
    }

    // MARK: Storing

    @Test func filesAreCommittedAfterTheirDirectoriesAreSynchronized() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(
            id,
            try TemporaryLibrary.multivariant(
                "#EXT-X-STREAM-INF:BANDWIDTH=1",
                "a",
                "#EXT-X-STREAM-INF:BANDWIDTH=2",
                "b"
            ),
            TemporaryLibrary.rendition(.variant, 1, playlist),
            TemporaryLibrary.rendition(.variant, 0, playlist)
        )
        _ = temporary.files.takeLines()
        try temporary.store(library.missingResources(id), of: id, content: "four")
        #expect(
            temporary.files.takeLines().suffix(3) == [
                "synchronize folder packages/*/variant-0", "synchronize folder packages/*/variant-1", "commit",
            ]
        )
        #expect(try rows() == ["variant-1/000000.ts 4 sum", "variant-0/000000.ts 4 sum"])
        #expect(try library.asset(id).bytes == ByteCount(8))
        #expect(try library.resources(id).map(\.bytes) == [ByteCount(4), ByteCount(4)])
        try library.commit([])
        #expect(temporary.files.takeLines() == [])
    }

    @Test func fileIsNotCommittedIfItsDirectoryCannotBeSynchronized() throws {
        let id = try plan(1)
        temporary.files.fail("synchronize folder packages/*/media", with: EIO)
        let error = storageError { try temporary.store(library.missingResources(id), of: id) }
        #expect(error?.code == "disk-failed")
        let path = library.packageDirectory(id).path + "/media"
        #expect(error?.message == "\(path) cannot be written (Input/output error)")
        #expect(try library.missingCount(id) == 1)
    }

    @Test(arguments: [
        "DELETE FROM resource WHERE id = 1", "DELETE FROM resource WHERE id = 2",
        "UPDATE resource SET path = 'media/x' WHERE id = 2",
    ])
    func filesOfADeletedAssetAreNotStored(sql: String) throws {
        let id = try plan(2)
        let missing = try library.missingResources(id)
        try execute(sql)
        let error = storageError { try temporary.store(missing, of: id) }
        #expect(error?.code == "not-found")
        #expect(error?.message == "the asset was deleted while it was being downloaded")
        // None of the files is stored, not even those that are still in the catalog.
        #expect(try rows().allSatisfy { $0.hasSuffix(" - -") })
    }

    @Test func assetIsCompleteWhenNoFileIsMissing() throws {
        let id = try plan(3)
        var error = storageError { try library.finish(id) }
        #expect(error?.code == "asset-incomplete")
        #expect(error?.message == "3 files of the asset are missing")
        try temporary.store(library.missingResources(id), of: id)
        try FileManager.default.removeItem(at: temporary.url("media/000001.ts", of: id))
        error = storageError { try library.finish(id) }
        #expect(error?.message == "1 file of the asset is missing")
        #expect(try library.asset(id).state == .partial)
        try FileManager.default.removeItem(at: temporary.url("media/media.m3u8", of: id))
        try temporary.complete(id)
        #expect(try library.asset(id).state == .complete)
        #expect(try temporary.text("media/media.m3u8", of: id).hasPrefix("#EXTM3U"))
    }

    // MARK: Missing and damaged files

    @Test func fileOfAnotherSizeIsRemovedFromTheCatalogBeforeTheDisk() throws {
        let id = try plan(4)
        try temporary.complete(id)
        try Data("other size".utf8).write(to: temporary.url("media/000001.ts", of: id))
        // The size is the same; only the checksum differs.
        try Data("X.ts".utf8).write(to: temporary.url("media/000002.ts", of: id))
        try FileManager.default.removeItem(at: temporary.url("media/000003.ts", of: id))
        _ = temporary.files.takeLines()
        #expect(try library.removeMissingFilesFromCatalog(id) == ["media/000001.ts", "media/000003.ts"])
        #expect(
            temporary.files.takeLines() == [
                "commit", "remove packages/*/media/000001.ts", "remove packages/*/media/000003.ts",
            ]
        )
        #expect(
            try rows() == [
                "media/000000.ts 4 sum", "media/000001.ts - -", "media/000002.ts 4 sum", "media/000003.ts - -",
            ]
        )
        #expect(try library.asset(id).state == .partial)
        #expect(PathCheck.exists(temporary.url("media/000001.ts", of: id)) == false)
        #expect(try library.removeMissingFilesFromCatalog(id) == [])
        #expect(temporary.files.takeLines() == [])
        // What was found before is still missing.
        let lost = ["media/000001.ts", "media/000002.ts", "media/000003.ts"]
        #expect(try library.verify(id).damaged.sorted() == lost)
        #expect(try library.verify(id).damaged.sorted() == lost)
        #expect(try paths(id) == ["media/000001.ts", "media/000002.ts", "media/000003.ts"])
    }

    @Test func intactAssetRemainsComplete() throws {
        let id = try plan(2)
        try temporary.complete(id)
        #expect(try library.removeMissingFilesFromCatalog(id) == [])
        #expect(try library.verify(id) == VerificationResult(damaged: [], withoutChecksum: 0))
        #expect(try library.asset(id).state == .complete)
        _ = temporary.files.takeLines()
        #expect(try library.verify(id).damaged == [])
        #expect(
            temporary.files.takeLines() == ["synchronize folder packages/*/media", "synchronize folder packages/*"]
        )
    }

    /// Another asset in the same library is not changed.
    @Test func onlyFilesOfTheAssetAreRemovedFromTheCatalog() throws {
        let id = try plan(1)
        try temporary.complete(id)
        let other = try temporary.enter(from: "other.m3u8")
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        try temporary.plan(other, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        try temporary.complete(other)
        for asset in [id, other] { try FileManager.default.removeItem(at: temporary.url("media/000000.ts", of: asset)) }
        #expect(try library.removeMissingFilesFromCatalog(id) == ["media/000000.ts"])
        #expect(try library.asset(id).state == .partial)
        #expect(try library.asset(other).state == .complete)
        #expect(try library.missingCount(other) == 0)
    }

    @Test func filesWithoutChecksumsAreVerifiedByTheirSizes() throws {
        let id = try plan(4)
        try temporary.complete(id)
        try execute("UPDATE resource SET checksum = NULL WHERE id > 1")
        try Data("other size".utf8).write(to: temporary.url("media/000003.ts", of: id))
        #expect(
            try library.verify(id) == VerificationResult(damaged: ["media/000003.ts"], withoutChecksum: 2)
        )
    }

    @Test func filesThatOnlyAPlaylistNamesAreReported() throws {
        let id = try plan(3)
        try temporary.complete(id)
        try execute("DELETE FROM resource WHERE position = 1")
        let result = try library.verify(id)
        #expect(result.unlisted == ["media/000001.ts"] && result.damaged == [])
    }

    @Test func damagedPlaylistsAreRewritten() throws {
        let id = try plan(1)
        try temporary.complete(id)
        let before = try ["media/media.m3u8", "multivariant.m3u8"].map { try temporary.text($0, of: id) }
        // One playlist with another size, and one with the same size but other contents.
        try Data("#EXTM3U".utf8).write(to: temporary.url("media/media.m3u8", of: id))
        let other = String(repeating: "#", count: before[1].utf8.count)
        try Data(other.utf8).write(to: temporary.url("multivariant.m3u8", of: id))
        #expect(try library.verify(id).damaged == ["media/media.m3u8", "multivariant.m3u8"])
        #expect(try ["media/media.m3u8", "multivariant.m3u8"].map { try temporary.text($0, of: id) } == before)
        #expect(try library.verify(id).damaged == [])
        try FileManager.default.removeItem(at: temporary.url("multivariant.m3u8", of: id))
        #expect(try library.verify(id).damaged == ["multivariant.m3u8"])
        #expect(try library.asset(id).state == .complete)
    }

    /// A file that is reached over a link is not part of the package.
    @Test func linkInPlaceOfAFolderIsNotFollowed() throws {
        let id = try plan(1)
        try temporary.complete(id)
        let (folder, moved) = (temporary.url("media", of: id), temporary.directory.appendingPathComponent("moved"))
        #expect(library.file("media/000000.ts", of: id) != nil && library.file("media/media.m3u8", of: id) != nil)
        try FileManager.default.moveItem(at: folder, to: moved)
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: moved)
        #expect(library.file("media/000000.ts", of: id) == nil && library.file("media/media.m3u8", of: id) == nil)
        #expect(library.file("multivariant.m3u8", of: id) != nil)
    }

    /// A symbolic link might point to a file that changes.
    @Test func symbolicLinkInPlaceOfAPlaylistIsReplaced() throws {
        let id = try plan(1)
        try temporary.complete(id)
        let (playlist, copy) = (temporary.url("media/media.m3u8", of: id), temporary.directory.path + "/copy.m3u8")
        try FileManager.default.moveItem(atPath: playlist.path, toPath: copy)
        try FileManager.default.createSymbolicLink(atPath: playlist.path, withDestinationPath: copy)
        #expect(try library.verify(id).damaged == ["media/media.m3u8"])
        #expect(library.file("media/media.m3u8", of: id) != nil)
    }

    @Test func playlistThatCannotBeParsedIsNotRewritten() throws {
        let id = try plan(1)
        try temporary.complete(id)
        try execute("UPDATE rendition SET playlist = X'00'")
        try FileManager.default.removeItem(at: temporary.url("multivariant.m3u8", of: id))
        try FileManager.default.removeItem(at: temporary.url("media/media.m3u8", of: id))
        #expect(try library.verify(id).damaged == ["multivariant.m3u8"])
        #expect(!PathCheck.exists(temporary.url("media/media.m3u8", of: id)))
        // The duration is unknown, so it counts as zero.
        #expect(try library.asset(id).duration == .zero)
    }

    /// The bandwidth in the playlist is computed from the stored files.
    @Test func playlistWithAnOutdatedBandwidthIsNotDamaged() throws {
        let id = try plan(2)
        try temporary.store(Array(library.missingResources(id).prefix(1)), of: id)
        func bandwidth() throws -> String? {
            try temporary.text("multivariant.m3u8", of: id).split(separator: "\n").dropFirst().first.map(String.init)
        }
        #expect(try bandwidth() == "#EXT-X-STREAM-INF:BANDWIDTH=1")
        #expect(try library.verify(id).damaged == [])
        #expect(try bandwidth() == "#EXT-X-STREAM-INF:BANDWIDTH=16")
        // Any other difference counts as damage.
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=16\nmedia/other.m3u8\n"
        try Data(text.utf8).write(to: temporary.url("multivariant.m3u8", of: id))
        #expect(try library.verify(id).damaged == ["multivariant.m3u8"])
    }

    /// The bandwidth of a variant of the source does not depend on the stored files.
    @Test func bandwidthThatDiffersFromTheSourceIsDamage() throws {
        let id = try temporary.enter()
        let playlist = try TemporaryLibrary.media("#EXTINF:4,", "0.ts")
        let source = try TemporaryLibrary.multivariant("#EXT-X-STREAM-INF:BANDWIDTH=8", "v.m3u8")
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, playlist))
        let text = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9\nvariant-0/media.m3u8\n"
        try Data(text.utf8).write(to: temporary.url("multivariant.m3u8", of: id))
        #expect(try library.verify(id).damaged == ["multivariant.m3u8"])
        #expect(try library.verify(id).damaged == [])
    }

    @Test func lockedAssetIsNotVerified() throws {
        let id = try plan(1)
        let lock = try library.lock(id)
        let error = storageError { _ = try library.verify(id) }
        #expect(error?.code == "asset-busy")
        withExtendedLifetime(lock) {}
    }

    /// A damaged file that cannot be removed is replaced by the next download.
    @Test func damagedFileThatCannotBeRemovedIsRemovedFromTheCatalog() throws {
        let id = try plan(1)
        try temporary.complete(id)
        try Data("other size".utf8).write(to: temporary.url("media/000000.ts", of: id))
        temporary.files.fail("remove packages/*/media/000000.ts", with: EIO)
        #expect(try library.removeMissingFilesFromCatalog(id) == ["media/000000.ts"])
        #expect(library.file("media/000000.ts", of: id) == nil)
        temporary.files.stopFailing()
        try temporary.complete(id)
        #expect(library.file("media/000000.ts", of: id) != nil)
    }

    // MARK: State of an asset

    private func ranges(_ pairs: [(Int64, Int64)]) -> MediaTimeRangeSet {
        MediaTimeRangeSet(
            pairs.map { MediaTimeRange(start: MediaTime(seconds: $0), end: MediaTime(seconds: $1)) }
        )
    }

    /// An asset with several renditions, of which the stored files determine what can be played.
    @Test func stateOfAnAssetFollowsFromItsStoredFiles() throws {
        let id = try temporary.enter("A \"title\"")
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",URI="e.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="F",URI="f.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="S",LANGUAGE="de",URI="s.m3u8""#,
            #"#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="s",NAME="T",URI="t.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360,CODECS="avc1,mp4a",AUDIO="a",SUBTITLES="s""#,
            "v.m3u8",
            #"#EXT-X-STREAM-INF:BANDWIDTH=900000,AUDIO="a",SUBTITLES="s""#,
            "w.m3u8"
        )
        guard case .multivariant(let multivariant) = source else { throw StorageError(.damaged, "no playlist") }
        let video = try TemporaryLibrary.media(
            #"#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01"#,
            #"#EXT-X-MAP:URI="init.mp4""#,
            "#EXTINF:4,",
            "0.m4s",
            "#EXT-X-GAP",
            "#EXTINF:4,",
            "1.m4s",
            "#EXTINF:4,",
            "2.m4s",
            "#EXT-X-GAP",
            "#EXTINF:2,",
            "3.m4s"
        )
        let other = try TemporaryLibrary.media("#EXTINF:14,", "w.ts")
        let audio = try TemporaryLibrary.media("#EXTINF:6,", "e0.aac", "#EXTINF:6,", "e1.aac")
        let french = try TemporaryLibrary.media("#EXTINF:12,", "f.aac")
        let text = try TemporaryLibrary.media("#EXTINF:12,", "s.vtt")
        let variants = multivariant.variants
        try temporary.plan(
            id,
            source,
            TemporaryLibrary.rendition(.variant, 0, video, variant: variants[0]),
            TemporaryLibrary.rendition(.variant, 1, other, variant: variants[1]),
            TemporaryLibrary.rendition(.audio, 0, audio, language: "en"),
            TemporaryLibrary.rendition(.audio, 1, french),
            TemporaryLibrary.rendition(.subtitles, 2, text, language: "de"),
            TemporaryLibrary.rendition(.subtitles, 3, text)
        )
        func store(_ names: String...) throws {
            let resources = try library.missingResources(id).filter { names.contains($0.address.lastPathComponent) }
            try temporary.store(resources, of: id, content: "1234567890")
        }
        func state() throws -> String {
            let asset = try library.asset(id)
            let whole = asset.renditions.map { $0.isComplete ? "+" : "-" }.joined()
            return "\(whole) \(asset.isPlayableOffline ? "playable" : "not playable") \(asset.bytes.bytes)"
        }
        #expect(try library.asset(id).duration == MediaTime(seconds: 14))
        #expect(
            try library.asset(id).renditions.map(\.duration) == [14, 14, 12, 12, 12, 12].map { MediaTime(seconds: $0) }
        )
        #expect(try state() == "------ not playable 0")
        // Segments that are marked as gaps at the origin count as loaded.
        #expect(try library.asset(id).renditions[0].loadedTimeRanges == ranges([(4, 8), (12, 14)]))
        #expect(try library.asset(id).loadedTimeRanges == ranges([]))
        try store("2.m4s")
        #expect(try library.asset(id).renditions[0].loadedTimeRanges == ranges([(4, 14)]))
        try store("0.m4s", "init.mp4")
        #expect(try library.asset(id).renditions[0].loadedTimeRanges == ranges([(0, 14)]))
        #expect(try state() == "------ not playable 30")
        try store("w.ts")
        #expect(try state() == "-+---- not playable 40")
        try store("e1.aac")
        #expect(try state() == "-+---- not playable 50")
        try store("f.aac", "s.vtt")
        // Renditions that are shorter have no missing media after their ends.
        #expect(try library.asset(id).loadedTimeRanges == ranges([(6, 14)]))
        // A variant and its audio are complete; the variant whose key is missing is not played.
        #expect(try state() == "-+-+++ playable 80")
        #expect(library.isPlayableOffline(id))
        try store("key")
        #expect(try state() == "++-+++ playable 90")
        let asset = try library.asset(id)
        #expect(asset.state == .partial)
        #expect(
            asset.report.json
                == #"{"id":"\#(id)","title":"A \"title\"","source":"https://origin.example/top.m3u8","state":"partial","#
                + #""duration":14,"bytes":90,"variants":[{"bandwidth":800000,"width":640,"height":360,"#
                + #""codecs":["avc1","mp4a"]},{"bandwidth":900000,"codecs":[]}],"audio":["en","und"],"#
                + #""subtitles":["de","und"],"playableOffline":true,"mediaFile":false,"path":"packages/\#(id)","#
                + #""loadedTimeRanges":[[6,14]],"expected":14,"percent":57.1}"#
        )
        try temporary.complete(id)
        #expect(try state() == "++++++ playable 96")
        #expect(try library.asset(id).percent == 100)
        #expect(
            try library.asset(id).report.json.hasSuffix(#""loadedTimeRanges":[[0,14]],"expected":14,"percent":100}"#)
        )
    }

    /// The catalog does not know what another program removed.
    @Test(arguments: ["media/000001.ts", "media/media.m3u8", "multivariant.m3u8"])
    func whatCanBePlayedOfflineIsFoundOnTheDisk(path: String) throws {
        let id = try plan(2)
        #expect(!library.isPlayableOffline(id))
        try temporary.complete(id)
        #expect(library.isPlayableOffline(id))
        try FileManager.default.removeItem(at: library.packageDirectory(id).appendingPathComponent(path))
        #expect(!library.isPlayableOffline(id))
        #expect(!library.isPlayableOffline("none"))
    }

    @Test func assetWithoutAVariantIsNotPlayable() throws {
        let id = try temporary.enter()
        let audio = try TemporaryLibrary.media("#EXTINF:6,", "e.aac")
        let source = try TemporaryLibrary.multivariant(
            #"#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",URI="e.m3u8""#,
            #"#EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a""#,
            "v.m3u8"
        )
        try temporary.plan(id, source, TemporaryLibrary.rendition(.audio, 0, audio))
        try temporary.complete(id)
        #expect(try !library.asset(id).isPlayableOffline)
        // The variant has no audio of its own, and no audio rendition is stored.
        let video = try TemporaryLibrary.media("#EXTINF:6,", "v.ts")
        try temporary.plan(id, source, TemporaryLibrary.rendition(.variant, 0, video))
        #expect(try !library.asset(id).isPlayableOffline)
        try temporary.complete(id)
        #expect(try library.asset(id).isPlayableOffline)
    }

    /// The percentage is 100 only if no file is missing.
    @Test func percentageOfAPartialAssetIsLessThan100() throws {
        let id = try plan(4)
        #expect(try library.asset(id).percent == 0)
        try temporary.store(library.missingResources(id), of: id)
        #expect(try library.asset(id).percent == 99.9)
        try library.finish(id)
        #expect(try library.asset(id).percent == 100)
        try library.delete(id)
        let quarter = try plan(8)
        try temporary.store(Array(library.missingResources(quarter).prefix(2)), of: quarter)
        #expect(try library.asset(quarter).percent == 25)
        // Without a duration, the percentage is 0 until the asset is complete.
        let empty = try temporary.enter(from: "empty.m3u8")
        #expect(try library.asset(empty).percent == 0)
        let playlist = try TemporaryLibrary.media()
        try temporary.plan(empty, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        #expect(try library.asset(empty).duration == .zero)
        #expect(try library.asset(empty).percent == 0)
        try library.finish(empty)
        #expect(try library.asset(empty).percent == 100)
    }
}

/// Functions that check files on the disk.
enum PathCheck {
    static func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }
}
