import HLSPlaylist
import MediaTiming
import Synchronization
import Testing

/// Tests the parsing of large playlists for which no task waits anymore.
@Suite struct PlaylistCancellationTests {
    private static func playlist(segmentCount: Int) -> [UInt8] {
        let segments = String(repeating: "#EXTINF:4,\na.ts\n", count: segmentCount)
        return Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(segments)".utf8)
    }

    @Test func parsingEndsWhenTheTaskIsCanceled() throws {
        let bytes = Self.playlist(segmentCount: 10_000)
        #expect(throws: CancellationError.self) {
            try CancelableWork.perform(canceledIf: { true }) { _ = try Playlist.parseUnlessCanceled(bytes) }
        }
        let parsed = try CancelableWork.perform(canceledIf: { false }) { try Playlist.parseUnlessCanceled(bytes) }
        guard case .media(let media) = try parsed.get() else {
            Issue.record("not a media playlist")
            return
        }
        #expect(media.segments.count == 10_000 && media.bytes == bytes)
    }

    /// The 20,002 lines are checked each 4,096 lines, and no line after the cancellation is read.
    @Test(arguments: [(1, true), (4, true), (5, false)])
    func cancellationIsNoticedAtIntervals(check: Int, isNoticed: Bool) throws {
        let bytes = Self.playlist(segmentCount: 10_000)
        let count = Mutex(0)
        let isCanceled: @Sendable () -> Bool = {
            count.withLock { count in
                count += 1
                return count >= check
            }
        }
        let parsed = try? CancelableWork.perform(canceledIf: isCanceled) { try Playlist.parseUnlessCanceled(bytes) }
        let checks = count.withLock { $0 }
        #expect((parsed == nil) == isNoticed && checks == min(check, 4))
    }

    /// Playlists that a canceled task has received are stored nevertheless.
    @Test func otherCallersAlwaysReceiveTheWholePlaylist() throws {
        let bytes = Self.playlist(segmentCount: 10_000)
        let media = try CancelableWork.perform(canceledIf: { true }) { try MediaPlaylist(parsing: bytes) }
        #expect(media.segments.count == 10_000)
    }

    @Test func errorsAreThoseOfTheParser() throws {
        let wrong = try Playlist.parseUnlessCanceled(Array("<MPD/>".utf8))
        #expect(throws: PlaylistParsingError.notAPlaylist(content: .dashManifest)) { try wrong.get() }
        var limits = PlaylistLimits()
        limits.entryCount = 50
        let large = try Playlist.parseUnlessCanceled(Self.playlist(segmentCount: 100), limits: limits)
        #expect(throws: PlaylistParsingError.self) { try large.get() }
    }
}
