import MediaDecoding
import MediaTiming
import Testing

@testable import MediaOutput

@Suite struct WindowMailboxTests {
    /// A mailbox without a window.
    private let mailbox = WindowMailbox(event: 0x8000)

    @Test func newestFrameIsTakenAndOthersAreCountedAsDropped() throws {
        for milliseconds in [0, 40, 80] { mailbox.put(try TestFrames.frame(at: Int64(milliseconds))) }
        #expect(mailbox.take().frame?.time == MediaTime(value: 80, timescale: 1000))
        #expect(mailbox.take().frame == nil)
        mailbox.put(try TestFrames.frame(at: 120))
        _ = mailbox.take()
        let counts = mailbox.counts
        #expect(counts.received == 4 && counts.shown == 2 && counts.dropped == 2)
    }

    @Test func clearingRemovesThePendingFrame() throws {
        mailbox.put(try TestFrames.frame(at: 0))
        #expect(mailbox.isReadyForDisplay)
        mailbox.clear()
        #expect(!mailbox.isReadyForDisplay)
        let mail = mailbox.take()
        #expect(mail.frame == nil && mail.isCleared)
        #expect(mailbox.counts.dropped == 1)
    }

    @Test func concurrentUpdatesAreAllApplied() async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [mailbox] in
                    for _ in 0..<100 { mailbox.update { $0.position = $0.position + MediaTime(seconds: 1) } }
                }
            }
        }
        #expect(mailbox.take().overlay?.position == MediaTime(seconds: 800))
    }

    @Test func unchangedOverlayIsNotDelivered() {
        mailbox.update { $0.volume = 1 }
        #expect(mailbox.take().overlay == nil)
    }

    @Test func closedMailboxAcceptsNothing() throws {
        mailbox.close()
        mailbox.put(try TestFrames.frame(at: 0))
        mailbox.update { $0.volume = 0.5 }
        let mail = mailbox.take()
        #expect(mail.frame == nil && mail.overlay == nil)
        #expect(mailbox.counts.received == 0)
    }
}
