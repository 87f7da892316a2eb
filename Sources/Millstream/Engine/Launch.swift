import MediaTiming

/// Starts a task that outlives the call: an engine, a time observer or a load that several callers share.
///
/// No other code in this module creates unstructured tasks. The caller stores the task and cancels it.
func launch(on time: any TimeSource, _ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: time.taskExecutor) { await operation() }
}
