import AssetStorage
import Foundation
import HLSPlaylist
import MediaTiming
import ResourceAddressing
import Testing

/// Files with the same content are stored once.
@Suite struct SharedContentTests {
    private let temporary: TemporaryLibrary
    private var library: AssetLibrary { temporary.library }

    init() throws { temporary = try TemporaryLibrary() }

    private func planned(_ name: String, _ segments: [String]) throws -> String {
        let id = try temporary.enter(name, from: "\(name).m3u8")
        let text = ["#EXTM3U", "#EXT-X-TARGETDURATION:4"] + segments.flatMap { ["#EXTINF:4,", $0] }
        let playlist = try TemporaryLibrary.playlist(text)
        try temporary.plan(id, .media(playlist), TemporaryLibrary.rendition(.variant, -1, playlist))
        return id
    }

    /// Stores the missing files as a download does, with content that depends only on the first letter of the name.
    private func fetch(_ id: String, size: Int = 10_000) throws {
        let resources = try library.missingResources(id)
        let received = try resources.map { resource in
            let file = library.makePackageFile(for: resource, of: id)
            let letter = resource.address.lastPathComponent.utf8.first ?? 0
            try [UInt8](repeating: letter, count: size).withUnsafeBytes { try file.write($0) }
            return file
        }
        for result in library.finish(received) { try result.get() }
        try library.commit(zip(resources, received).map { WrittenFile($0, $1) })
    }

    private func numbers(_ id: String) throws -> [UInt64] {
        try library.resources(id).map { resource in
            let path = library.packageDirectory(id).appendingPathComponent(resource.path).path
            return try #require(FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
        }
    }

    @Test func contentThatAnotherAssetHasIsLinked() throws {
        let (first, second) = (try planned("first", ["a1.ts", "b1.ts"]), try planned("second", ["b2.ts", "c2.ts"]))
        try fetch(first)
        try library.finish(first)
        try fetch(second)
        #expect(try numbers(second)[0] == numbers(first)[1])
        try library.finish(second)
        // Only one of the two segments needs space, and each asset counts both.
        let packages = DiskUsage(of: temporary.directory.appendingPathComponent("packages")).occupiedBytes.bytes
        let single = try (library.diskUsage(first).occupiedBytes + library.diskUsage(second).occupiedBytes).bytes
        // The directory of packages occupies a block itself.
        #expect(single - packages > 4_000 && single - packages < 20_000)
        #expect(try library.asset(second).bytes == ByteCount(20_000))
        #expect(try library.summary(second).diskBytes > ByteCount(20_000))
        #expect(try names(second).allSatisfy { !$0.hasSuffix(".part") && !$0.hasSuffix(".link") })
        // The total of a listing counts the shared file once; the summaries of both assets are computed again.
        try library.storeMissingSummaries()
        let summaries = try library.summaries()
        let total = library.diskBytes(of: summaries)
        #expect(summaries.allSatisfy(\.sharesFiles) && total.bytes < single - 4_000)
        #expect(try AssetLibrary(reading: temporary.directory).summaries() == summaries)
        // The deletion of one leaves the other whole.
        try library.delete(first)
        #expect(try library.verify(second).damaged.isEmpty)
        #expect(library.isPlayableOffline(second))
    }

    private func names(_ id: String) throws -> [String] { try temporary.names(of: id) }

    @Test func contentThatWasReceivedAtTheSameTimeIsLinkedAtTheEnd() throws {
        let id = try planned("repeated", ["a1.ts", "b1.ts", "a2.ts", "a3.ts"])
        try fetch(id)
        #expect(Set(try numbers(id)).count == 4)
        try library.finish(id)
        let numbers = try numbers(id)
        #expect(numbers[0] == numbers[2] && numbers[0] == numbers[3] && numbers[0] != numbers[1])
        let usage = try library.diskUsage(id)
        #expect(usage.occupiedBytes == usage.freeableBytes && usage.occupiedBytes < ByteCount(50_000))
        #expect(try library.verify(id).damaged.isEmpty)
    }

    /// Keys and short subtitles occupy a block each, with or without a link.
    @Test func smallFilesAreNotLinked() throws {
        let ids = [try planned("first", ["a1.ts", "a2.ts"]), try planned("second", ["a3.ts"])]
        for id in ids {
            try fetch(id, size: 4096)
            try library.finish(id)
        }
        #expect(Set(try ids.flatMap { try numbers($0) }).count == 3)
    }

    @Test func damagedFileIsNotLinkedAndItsRepairIsAFileOfItsOwn() throws {
        let (first, second) = (try planned("first", ["a1.ts"]), try planned("second", ["a2.ts"]))
        try fetch(first)
        try library.finish(first)
        let path = try library.resources(first)[0].path
        let url = library.packageDirectory(first).appendingPathComponent(path)
        let file = try FileHandle(forWritingTo: url)
        try file.write(contentsOf: Data("damaged".utf8))
        try file.close()
        try fetch(second)
        try library.finish(second)
        #expect(try numbers(first) != numbers(second))
        #expect(try library.verify(second).damaged.isEmpty)
        #expect(try library.verify(first).damaged == [path])
        try fetch(first)
        #expect(try numbers(first) == numbers(second))
        #expect(try library.verify(first).damaged.isEmpty)
    }

    @Test(arguments: ["link", "rename"])
    func fileIsStoredOnItsOwnIfItCannotBeLinked(_ operation: String) throws {
        let (first, second) = (try planned("first", ["a1.ts"]), try planned("second", ["a2.ts"]))
        try fetch(first)
        let (path, other) = (try library.resources(first)[0].path, try library.resources(second)[0].path)
        let target = "packages/*/\(other).link"
        temporary.files.fail(
            operation == "link" ? "link packages/*/\(path) to \(target)" : "rename \(target) to packages/*/\(other)",
            with: EMLINK
        )
        try fetch(second)
        #expect(try numbers(first) != numbers(second))
        #expect(try !names(second).contains { $0.hasSuffix(".link") || $0.hasSuffix(".part") })
        #expect(try library.verify(second).damaged.isEmpty)
    }

    @Test func evictionFreesTheFilesThatAssetsShareOnce() throws {
        let ids = [try planned("first", ["a1.ts"]), try planned("second", ["a2.ts"])]
        for id in ids {
            try fetch(id, size: 1_000_000)
            try library.finish(id)
        }
        let plan = try library.evictionPlan(limits: StorageLimits(quota: ByteCount(1)))
        #expect(Set(plan.entries.map(\.id)) == Set(ids))
        #expect(plan.entries[0].freedBytes < ByteCount(100_000))
        #expect(plan.freedBytes > ByteCount(1_000_000) && plan.freedBytes < ByteCount(1_200_000))
    }
}
