import MediaTiming

/// The readiness of a storage, which is verified once a second at most, whatever the number of requests.
actor Readiness {
    private let store: any BreakStore
    private let time: any TimeSource
    private var last: (isReady: Bool, end: Duration)?
    private var verification: Task<Bool, Never>?

    init(_ store: any BreakStore, time: any TimeSource = SystemTimeSource()) {
        self.store = store
        self.time = time
    }

    /// Verifies that the storage is available.
    ///
    /// - Throws: ``ServerError`` with 503 if it is not.
    func verify() async throws {
        guard await isReady() else {
            throw ServerError.stateUnavailable("the storage of live playlists is not available")
        }
    }

    private func isReady() async -> Bool {
        if let last, time.now < last.end { return last.isReady }
        if let verification { return await verification.value }
        let task = Task { [store] in (try? await store.verify()) != nil }
        verification = task
        let isReady = await task.value
        verification = nil
        last = (isReady, time.now + .seconds(1))
        return isReady
    }
}
