import DASHTranslation
import Foundation
import GRDB
import HLSPlaylist
import MediaTransport
import PresentationLoading
import Testing

/// Tests the file in which the numbers of live presentations continue after a restart.
struct StateFileTests {
    private static let media = TestOrigin.address + "#millstream-playlist=video-v.m3u8"

    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("state").path)
    }

    /// The start of a segment, in seconds; the durations are 2, 3 and 4 seconds in turn.
    private func start(_ index: Int) -> Int { (0..<index).reduce(0) { $0 + 2 + $1 % 3 } }

    /// Returns a version of a manifest whose window of five segments begins with the given one.
    private func manifest(from first: Int) -> String {
        let entries = (first..<first + 5).map { #"<S t="\#(start($0))" d="\#(start($0 + 1) - start($0))"/>"# }
        return """
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic" availabilityStartTime="2024-01-01T00:00:00Z"
              minimumUpdatePeriod="PT2S" profiles="" minBufferTime="PT2S"><Period id="1" start="PT0S">
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate initialization="i.mp4" media="$Time$.m4s">
            <SegmentTimeline>\(entries.joined())</SegmentTimeline></SegmentTemplate>
            <Representation id="v" bandwidth="1000" codecs="avc1.64001f"/></AdaptationSet></Period></MPD>
            """
    }

    /// Loads the playlist of a version of the manifest with a new store, as after a restart.
    private func playlist(from first: Int, state: String?) async throws -> MediaPlaylist {
        let file = try state.map { try StateFile($0) }
        let origin = TestOrigin([TestOrigin.address: manifest(from: first)]) { $0.stateFile = file }
        _ = try await origin.multivariant()
        return try await origin.media(Self.media)
    }

    private func numbers(_ playlist: MediaPlaylist) -> [String: [Int64]] {
        Dictionary(
            playlist.segments.map { ($0.uri, [$0.sequence, $0.discontinuitySequence]) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    @Test func numbersContinueAfterARestart() async throws {
        try await withFile { path in
            var known: [String: [Int64]] = [:]
            for first in [10, 10, 12, 15, 19] {
                let playlist = try await playlist(from: first, state: path)
                let current = numbers(playlist)
                #expect(current.count == 5)
                if !known.isEmpty { #expect(current.keys.contains { known[$0] != nil }) }
                for (uri, pair) in current { #expect(known[uri] ?? pair == pair, "\(uri)") }
                known.merge(current) { $1 }
            }
            let sequences = known.values.map { $0[0] }.sorted()
            #expect(sequences == Array(sequences[0]..<sequences[0] + 14))
        }
    }

    /// Without a file, the numbers after a restart are higher than all before, and a discontinuity announces them.
    @Test func restartWithoutAStateIsADiscontinuity() async throws {
        var highest: [Int64] = [-1, -1]
        for first in [10, 11, 13, 16] {
            let playlist = try await playlist(from: first, state: nil)
            let segment = try #require(playlist.segments.first)
            #expect(segment.hasDiscontinuity)
            #expect(segment.sequence > highest[0] && segment.discontinuitySequence > highest[1])
            for pair in numbers(playlist).values {
                highest = [max(highest[0], pair[0]), max(highest[1], pair[1])]
            }
        }
    }

    @Test func fileIsPrivateAndBounded() async throws {
        try await withFile { path in
            var limits = StateFile.Limits()
            limits.valueCount = 2
            let file = try StateFile(path, limits: limits)
            for name in ["a", "b", "c"] { try file.store(TranslationState(), of: name) }
            try file.store(TranslationState(), of: "b")
            try file.store(TranslationState(), of: "d")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let read = try StateFile(path)
            #expect(try ["a", "b", "c", "d"].map { try read.state(of: $0) != nil } == [false, true, false, true])
            limits.totalSize = 100
            let bounded = try StateFile(path, limits: limits)
            for name in ["x", "y"] { _ = try bounded.store(Array(repeating: 7, count: 60), .breaks, of: name) }
            #expect(try bounded.value(.breaks, of: "x") == nil && bounded.value(.breaks, of: "y") != nil)
            // What is protected stays, and the value that is stored.
            _ = try bounded.store(Array(repeating: 7, count: 60), .breaks, of: "z", protecting: ["y"])
            #expect(try ["y", "z"].map { try bounded.value(.breaks, of: $0) != nil } == [true, true])
            _ = try bounded.store(Array(repeating: 7, count: 60), .breaks, of: "x")
            #expect(try ["x", "y", "z"].map { try bounded.value(.breaks, of: $0) != nil } == [true, false, false])
            limits.valueSize = 10
            let small = try StateFile(path, limits: limits)
            #expect(code { try small.store(TranslationState(), of: "larger") } == .failed)
        }
    }

    @Test func valueIsStoredOnlyInPlaceOfTheVersionThatWasRead() async throws {
        try await withFile { path in
            let files = try [StateFile(path), StateFile(path)]
            #expect(try files[0].value(.breaks, of: "a") == nil)
            #expect(try files[0].store([1], .breaks, of: "a", replacing: 0))
            #expect(try !files[1].store([2], .breaks, of: "a", replacing: 0))
            #expect(try files[1].store([3], .breaks, of: "a", replacing: 1))
            let value = try #require(try files[0].value(.breaks, of: "a"))
            #expect(value.bytes == [3] && value.revision == 2)
            #expect(try files[0].value(.translation, of: "a") == nil)
        }
    }

    private func code(_ body: () throws -> Void) -> StateFileError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StateFileError)?.code
        }
    }

    @Test(
        arguments: [
            "not a database, and longer than the header of one, which has a hundred bytes, so that it is read as one: no\n",
            #"{"form":"millstream-translation-state","version":1}"#,
        ]
    )
    func otherFileIsRefused(_ text: String) async throws {
        try await withFile { path in
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(code { _ = try StateFile(path) } == .damaged)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(text.utf8))
        }
    }

    @Test(
        arguments: [
            ("PRAGMA user_version = 2", .tooNew), ("PRAGMA application_id = 5", .damaged),
        ] as [(String, StateFileError.Code)]
    )
    func newerFileAndOtherDatabaseAreRefused(_ change: String, _ expected: StateFileError.Code) async throws {
        try await withFile { path in
            _ = try StateFile(path)
            try DatabaseQueue(path: path).writeWithoutTransaction { try $0.execute(sql: change) }
            #expect(code { _ = try StateFile(path) } == expected)
        }
    }

    @Test func unusablePathsAreErrors() async throws {
        try await withFile { path in
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
            #expect(code { _ = try StateFile(folder) } == .unreadable)
            try Data().write(to: URL(fileURLWithPath: path))
            #expect(code { _ = try StateFile(path + "/state") } == .unreadable)
        }
    }
}
