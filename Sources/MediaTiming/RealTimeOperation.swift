/// A clock of a simulation, which can be stopped while an operation takes real time.
package protocol StoppableClock: Sendable {
    /// Stops the clock until ``start()`` has been called as often.
    func stop()

    /// Starts the clock again.
    func start()
}

/// Operations that run on threads outside a simulation and end by themselves, such as those on files.
package enum RealTimeOperation {
    /// The clock of the simulation that runs the current task; `nil` in real time.
    @TaskLocal package static var clock: (any StoppableClock)?

    /// Waits for an operation; simulated time stands still meanwhile.
    ///
    /// Otherwise the simulation would skip to the next deadline while a busy machine reads a file, and a test would depend on
    /// the load. The operation must not wait for simulated time.
    ///
    /// - Parameter body: The operation.
    /// - Returns: The result of the operation.
    package nonisolated(nonsending) static func wait<Result>(
        for body: nonisolated(nonsending) () async throws -> Result
    ) async rethrows -> Result {
        guard let clock else { return try await body() }
        clock.stop()
        defer { clock.start() }
        return try await body()
    }
}
