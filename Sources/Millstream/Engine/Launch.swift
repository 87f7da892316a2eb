import MediaTiming

/// Begins what outlives the call that asked for it: an engine, an observer of time, a load that several wait for.
///
/// Nothing else in this module does; whoever asks keeps the task, and cancels it.
func launch(on time: any TimeSource, _ operation: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: time.taskExecutor) { await operation() }
}
