import Foundation
import HLSPlaylist
import MediaTiming
import Testing

@testable import PlaylistEditing

/// Tests the bounds of what is stored of a live playlist.
struct BreakTimelineSizeTests {
    /// The size of what is stored does not depend on the length of the identifiers of date ranges.
    @Test func longIdentifiersAreStoredAsHashes() throws {
        let id = String(repeating: "z", count: 3_300)
        let range = "#EXT-X-DATERANGE:ID=\"\(id)\",START-DATE=\"2026-01-01T00:00:30Z\",DURATION=12,SCTE35-OUT=0xFC\n"
        let stream = BreakStream(count: 14, [5: range])
        var editor = BreakEditor()
        let advertisement = try MediaPlaylist.advertisement(["8", "4", "6"])
        for end in 6...9 { _ = try editor.edit(stream.version(endingAt: end), advertisement) }
        #expect(editor.timeline.breaks.map(\.id) == [BreakCues.identifier(id)] && editor.timeline.handled.count == 1)
        let stored = String(decoding: try JSONEncoder().encode(editor.timelines), as: UTF8.self)
        #expect(stored.utf8.count < 3_000)
        // What an earlier version has stored is known.
        let earlier = stored.replacing(BreakCues.identifier(id), with: id)
        #expect(earlier.utf8.count > 6_000)
        #expect(try JSONDecoder().decode(BreakTimelines.self, from: Data(earlier.utf8)) == editor.timelines)
    }

    @Test func identifiersAreBoundedAndDiffer() {
        let long = String(repeating: "a", count: 65)
        for id in ["", "1", String(repeating: "a", count: 64)] { #expect(BreakCues.identifier(id) == id) }
        for id in [long, long + "a", "b" + long, String(repeating: "z", count: 1_000_000)] {
            let stored = BreakCues.identifier(id)
            #expect(stored.utf8.count <= 64 && BreakCues.identifier(stored) == stored)
        }
        #expect(Set([long, long + "a", "b" + long, long + "b"].map(BreakCues.identifier)).count == 4)
    }

    /// Further advertisements are not stored without limit: the program remains in their breaks.
    @Test func differentAdvertisementsAreBounded() throws {
        let comments = String(repeating: "#" + String(repeating: "x", count: 99) + "\n", count: 2_000)
        let numbers = (0..<8).map { 5 + 3 * $0 }
        let stream = BreakStream(
            count: 40,
            Dictionary(uniqueKeysWithValues: numbers.map { ($0, "#EXT-X-CUE-OUT:6\n") })
        )
        var editor = BreakEditor()
        for (number, name) in zip(numbers, ["a", "b", "c", "d", "e", "f", "g", "a"]) {
            let advertisement = try MediaPlaylist.advertisement(
                ["6"],
                name: name,
                header: "#EXT-X-TARGETDURATION:8\n" + comments
            )
            _ = try editor.edit(stream.version(endingAt: number + 1), advertisement)
        }
        #expect(editor.timeline.advertisements.count == 5)
        // An advertisement that is stored is played again.
        #expect(editor.timeline.breaks.map(\.start) == [5, 8, 11, 14, 17, 26])
    }

    @Test func timelinesThatAreTooLargeAreAnError() throws {
        let stream = BreakStream(count: 14, [5: "#EXT-X-CUE-OUT:12\n"])
        var large = BreakTimelines()
        large.timelines[String(repeating: "x", count: BreakTimelines.maximumSize)] = BreakTimeline()
        var editor = BreakEditor(continuing: large)
        #expect(throws: PlaylistEditError.tooLarge(.byteCount(BreakTimelines.maximumSize))) {
            _ = try editor.edit(stream.version(endingAt: 6), .advertisement(["6"]))
        }
        #expect(editor.timelines == large)
    }
}
