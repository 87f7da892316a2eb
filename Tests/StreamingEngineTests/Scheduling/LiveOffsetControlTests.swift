import MediaTiming
import Testing

@testable import StreamingEngine

@Suite struct LiveOffsetControlTests {
    private func factor(
        _ control: inout LiveOffsetControl,
        _ offset: Double,
        wanted: Double = 20,
        ahead: Double = 10
    ) -> Double {
        control.rateFactor(
            offset: MediaTime(approximating: offset) ?? .zero,
            target: MediaTime(approximating: wanted) ?? .zero,
            bufferedDuration: .seconds(ahead),
            minimumBuffer: .seconds(6)
        )
    }

    @Test func offsetErrorsBelowHalfASecondAreNotCorrected() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 20.49) == 1 && factor(&control, 19.51) == 1)
    }

    @Test func aLatePlayheadIsAcceleratedUntilATenthOfASecond() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 20.5) == 1.05)
        #expect(factor(&control, 20.1) == 1.05)
        #expect(factor(&control, 20.09) == 1)
        #expect(factor(&control, 20.4) == 1)
    }

    @Test func anEarlyPlayheadIsSlowedDown() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 19.5) == 0.95)
        #expect(factor(&control, 19.8, ahead: 0) == 0.95)
        #expect(factor(&control, 19.95) == 1)
    }

    @Test func playbackIsNotAcceleratedWithoutBufferedMedia() {
        var control = LiveOffsetControl()
        #expect(factor(&control, 25, ahead: 6) == 1)
        #expect(factor(&control, 25, ahead: 6.1) == 1.05)
    }
}
