import AssetStorage
import Foundation
import MediaTiming
import MediaTransport
import MillstreamDownloads
import MillstreamTesting
import ResourceAddressing
import Testing

/// Tests a download during which the machine crashes, or the disk fails, after each single operation.
@Suite struct CrashRecoveryTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("crash-\(UUID())")

    private static let source = ResourceAddress("https://origin.example/top.m3u8")
    private static let media = [
        "https://origin.example/0.m4s": "the first segment, which is long enough to be torn",
        "https://origin.example/1.m4s": "the second segment", "https://origin.example/init.mp4": "initialization",
        "https://origin.example/key": "0123456789abcdef", "https://origin.example/en.aac": "some audio",
    ]

    private static var origin: ScriptedTransport {
        let playlists = [
            "https://origin.example/top.m3u8": """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="E",LANGUAGE="en",DEFAULT=YES,URI="audio.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=800000,AUDIO="a"
            video.m3u8

            """,
            "https://origin.example/video.m3u8": """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x01
            #EXTINF:4,
            0.m4s
            #EXTINF:2,
            1.m4s
            #EXT-X-ENDLIST

            """,
            "https://origin.example/audio.m3u8":
                "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\nen.aac\n#EXT-X-ENDLIST\n",
        ]
        return ScriptedTransport(texts: playlists.merging(media) { first, _ in first })
    }

    private func download(
        into library: AssetLibrary,
        from origin: ScriptedTransport = origin,
        jobs: Int = 1
    ) async throws -> StoredAsset {
        try await AssetDownload(
            Self.source,
            into: library,
            loader: ResourceLoader(origin, policy: RecoveryPolicy(retries: 0)),
            configuration: DownloadConfiguration(
                maximumConcurrentFetches: jobs,
                limits: DownloadLimits(freeSpace: .zero)
            )
        ).run()
    }

    /// Expects that each file that the catalog lists as stored has the bytes of its origin.
    private func expectStoredFilesAreExact(_ library: AssetLibrary, _ comment: Comment) throws {
        for asset in try library.assets() {
            var missing = 0
            for resource in try library.resources(asset.id) {
                guard resource.bytes != nil else {
                    missing += 1
                    continue
                }
                let path = library.packageDirectory(asset.id).appendingPathComponent(resource.path)
                let text = try? String(contentsOf: path, encoding: .utf8)
                #expect(text == Self.media[resource.address.text], "\(resource.path): \(comment)")
            }
            #expect(asset.state == .partial || missing == 0, comment)
            #expect(!asset.isPlayableOffline || missing == 0, comment)
            if asset.state == .complete { try expectPlaylistsAreWhole(library, asset, comment) }
        }
    }

    private func expectPlaylistsAreWhole(_ library: AssetLibrary, _ asset: StoredAsset, _ comment: Comment) throws {
        for path in ["multivariant.m3u8", "variant-0/media.m3u8", "audio-0/media.m3u8"] {
            let url = library.packageDirectory(asset.id).appendingPathComponent(path)
            let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            #expect(lines.first == "#EXTM3U" && lines.count >= 3, "\(path): \(comment)")
            #expect(path.hasPrefix("multi") || lines.last == "#EXT-X-ENDLIST", "\(path): \(comment)")
        }
    }

    private func expectComplete(_ library: AssetLibrary, _ asset: StoredAsset, _ comment: Comment) throws {
        #expect(asset.state == .complete && asset.isPlayableOffline && asset.percent == 100, comment)
        #expect(try library.resources(asset.id).count == Self.media.count, comment)
        try expectStoredFilesAreExact(library, comment)
        #expect(try library.verify(asset.id) == VerificationResult(damaged: [], withoutChecksum: 0), comment)
        let names = FileManager.default.enumerator(atPath: library.packageDirectory(asset.id).path)
        let leftovers = (names?.allObjects as? [String])?.filter { $0.hasSuffix(".part") }
        #expect(leftovers == [], comment)
    }

    @Test(.timeLimit(.minutes(5)), arguments: CrashedDisk.Survival.allCases)
    func crashAfterAnyOperationLosesNoCommittedFile(survival: CrashedDisk.Survival) async throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let original = root.appendingPathComponent("original")
        let files = RecordingFiles(original)
        let library = try AssetLibrary(directory: original, files: files)
        let begin = files.catalog
        _ = try await download(into: library)
        let operations = files.operations
        #expect(operations.count > 40)
        var states: [String: Int] = [:]
        for count in 0...operations.count {
            let directory = root.appendingPathComponent("crash-\(count)")
            try CrashedDisk(operations.prefix(count), catalog: begin).write(to: directory, survival)
            let found = try AssetLibrary(directory: directory)
            let comment: Comment = "after \(count) operations, \(survival)"
            try expectStoredFilesAreExact(found, comment)
            states[try found.assets().first?.state.rawValue ?? "none", default: 0] += 1
            try expectComplete(found, try await download(into: found), comment)
            try FileManager.default.removeItem(at: directory)
        }
        // Every state occurred: no asset, a partial asset and a complete asset.
        #expect(states["none"] != nil && states["partial"] != nil && states["complete"] == 1)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [ENOSPC, EIO, EACCES, EDQUOT])
    func failureOfAnyOperationIsAnErrorAndTheNextDownloadResumes(number: CInt) async throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let clean = root.appendingPathComponent("clean")
        let counter = RecordingFiles(clean)
        _ = try await download(into: try AssetLibrary(directory: clean, files: counter))
        #expect(counter.calls > 30)
        for call in 0..<counter.calls {
            let directory = root.appendingPathComponent("failure-\(call)")
            let files = RecordingFiles(directory)
            let library = try AssetLibrary(directory: directory, files: files)
            files.fail(call, with: number)
            let comment: Comment = "call \(call)"
            do {
                let asset = try await download(into: library)
                #expect(files.failed?.isRemoval == true, comment)
                try expectComplete(library, asset, comment)
            } catch let error as DownloadError {
                #expect(error.code == .storage, comment)
                let isFull = number == ENOSPC || number == EDQUOT
                #expect(error.detail == (isFull ? "disk-full" : "disk-failed"), comment)
                #expect(error.message.contains(String(cString: strerror(number))), comment)
                #expect((error.hint != nil) == isFull, comment)
                #expect(try library.assets().first?.state != .complete, comment)
            }
            files.stopFailing()
            let stored = try library.assets().first.map { try library.resources($0.id).count { $0.bytes != nil } } ?? 0
            try expectStoredFilesAreExact(library, comment)
            let origin = Self.origin
            let asset = try await download(into: library, from: origin)
            try expectComplete(library, asset, comment)
            // Files that were stored before the failure are not downloaded again.
            let fetched = origin.requestedAddresses.count { !$0.hasSuffix(".m3u8") }
            #expect(fetched == Self.media.count - stored, comment)
            try FileManager.default.removeItem(at: directory)
        }
    }

    @Test func contentIsSynchronizedBeforeItsNameAndBothBeforeTheCommit() async throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let files = RecordingFiles(root)
        _ = try await download(into: try AssetLibrary(directory: root, files: files), jobs: 4)
        var (dirty, unnamed, unsynchronized): (Set<Int>, [String: Int], Set<String>) = ([], [:], [])
        var commits = 0
        for operation in files.operations {
            switch operation {
            case .createFile(let path, let file):
                unnamed[path] = file
                dirty.insert(file)
            case .write(let bytes, let file): if !bytes.isEmpty { dirty.insert(file) }
            case .synchronizeFile(let file): dirty.remove(file)
            case .rename(let path, let newPath):
                let file = unnamed.removeValue(forKey: path)
                #expect(
                    file.map { !dirty.contains($0) } == true,
                    "\(newPath) has a name before its content is on the disk"
                )
                unsynchronized.insert(newPath)
            case .synchronizeFolder(let folder):
                unsynchronized = unsynchronized.filter {
                    !$0.hasPrefix(folder + "/") || $0.dropFirst(folder.count + 1).contains("/")
                }
            case .commit: commits += 1
            default: break
            }
        }
        #expect(unsynchronized.isEmpty && dirty.isEmpty && unnamed.isEmpty && commits >= 4)
    }
}
