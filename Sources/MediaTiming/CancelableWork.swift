/// Work that ends early when it is canceled, such as the parsing of a large document.
package enum CancelableWork {
    /// A closure that returns whether the task that waits for the work of the current thread is canceled; `nil` for
    /// work that runs in a task.
    @TaskLocal static var isWaitingTaskCanceled: (@Sendable () -> Bool)?

    /// A Boolean value that indicates whether the result of the current work is not needed anymore.
    ///
    /// Long work reads it at intervals, and throws an error when it is `true`.
    package static var isCanceled: Bool {
        if Task.isCancelled { return true }
        return isWaitingTaskCanceled?() ?? false
    }

    /// Performs work on a thread that belongs to no task, so that ``isCanceled`` is that of the task that waits for it.
    ///
    /// - Parameters:
    ///   - isCanceled: A closure that returns whether the task that waits is canceled.
    ///   - work: The work.
    /// - Returns: The result of the work.
    /// - Throws: The error of the work.
    package static func perform<Result>(
        canceledIf isCanceled: @escaping @Sendable () -> Bool,
        _ work: () throws -> Result
    ) rethrows -> Result {
        try $isWaitingTaskCanceled.withValue(isCanceled, operation: work)
    }
}
