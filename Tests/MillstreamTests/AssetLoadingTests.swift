import Testing

@testable import Millstream

@Suite struct AssetLoadingTests {
    private let failure = Result<AssetInspection, PlayerError>.failure(PlayerError(.notLoaded, "no"))

    private func name(_ status: AssetKeyStatus) -> String {
        switch status {
        case .unknown: "unknown"
        case .loading: "loading"
        case .loaded: "loaded"
        case .failed(let error): "failed: \(error.message)"
        case .cancelled: "cancelled"
        }
    }

    @Test func theInspectionStopsWithTheLastOfItsCallers() {
        var loading = AssetLoading()
        let first = loading.load([.duration])
        #expect(first.action == .inspect(1) && first.run == 1)
        let second = loading.load([.tracks, .isPlayable])
        #expect(second.action == .none && second.run == 1)
        #expect(loading.isRunning(1) && !loading.isRunning(2))
        #expect(loading.removeWaiter(1) == .none)
        #expect(name(loading.status(of: .duration)) == "loading")
        #expect(loading.removeWaiter(1) == .stop)
        #expect(!loading.isRunning(1))
        #expect(name(loading.status(of: .tracks)) == "cancelled")
        #expect(name(loading.status(of: .mediaSelectionGroups)) == "unknown")
        #expect(loading.removeWaiter(1) == .none)
        #expect(loading.cancel() == .none)
    }

    @Test func theResultOfACanceledInspectionIsIgnored() {
        var loading = AssetLoading()
        _ = loading.load([.duration])
        #expect(loading.cancel() == .stop)
        let again = loading.load([.duration])
        #expect(again.action == .inspect(2) && again.run == 2)
        loading.finish(1, failure)
        // A caller of the canceled inspection does not end the next one.
        #expect(loading.removeWaiter(1) == .none)
        #expect(loading.isRunning(2))
        #expect(name(loading.status(of: .duration)) == "loading")
        loading.finish(2, failure)
        #expect(!loading.isRunning(2))
        #expect(name(loading.status(of: .duration)) == "failed: no")
    }

    @Test func onlyPropertiesThatFailedAreNotLoadedAgain() {
        var loading = AssetLoading()
        _ = loading.load([.duration])
        loading.finish(1, failure)
        let failed = loading.load([.tracks, .duration])
        #expect(failed.action == .none && failed.run == nil)
        #expect(name(loading.status(of: .tracks)) == "unknown")
        let other = loading.load([.tracks])
        #expect(other.action == .inspect(2) && other.run == 2)
        // Callers are counted anew for each inspection.
        #expect(loading.removeWaiter(2) == .stop)
        #expect(name(loading.status(of: .duration)) == "failed: no")
    }
}
