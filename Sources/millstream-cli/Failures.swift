/// The failures of a command that tries all of its arguments.
struct Failures {
    private var last: Failure?

    /// Runs `body`, and continues after an error, which is reported.
    ///
    /// - Throws: An error after which no further argument is tried: an interruption, or a closed output.
    mutating func collect(_ body: () throws -> Void) throws {
        do { try body() } catch { try add(error) }
    }

    /// Runs `body`, and continues after an error, which is reported.
    ///
    /// - Throws: An error after which no further argument is tried: an interruption, or a closed output.
    mutating func collect(_ body: () async throws -> Void) async throws {
        do { try await body() } catch { try add(error) }
    }

    /// Adds an error.
    ///
    /// - Throws: An error after which no further argument is tried.
    mutating func add(_ error: any Error) throws {
        let failure = Failure(error)
        // The last failure is reported at the end of the command.
        last?.write()
        last = nil
        guard failure.status != .interrupted, !(error is OutputError) else { throw error }
        last = failure
    }

    /// Ends the command with the last failure; the others are reported already.
    ///
    /// - Throws: ``Failure`` if there was one.
    func finish() throws { if let last { throw last } }
}
