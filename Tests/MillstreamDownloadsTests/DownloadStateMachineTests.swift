import Testing

@testable import MillstreamDownloads

/// Tests the decisions of a download session: events in, effects out.
@Suite struct DownloadStateMachineTests {
    private typealias Machine = DownloadStateMachine

    private func machine(_ count: Int, concurrent: Int = 1, asset: (Int) -> String = { "asset\($0)" }) -> Machine {
        var machine = Machine(maximumConcurrentTasks: concurrent)
        for number in 0..<count {
            let added = machine.handle(
                .added(id: "\(number)", asset: asset(number), priority: 0, phase: .suspended)
            )
            #expect(added == [])
        }
        return machine
    }

    @Test func resumedTaskRunsAndIsRemovedWhenItIsComplete() {
        var machine = machine(1)
        #expect(
            machine.handle(.requested("0", .resume)) == [
                .save("0", .waiting), .report("0", .waiting), .report("0", .running), .start("0"),
            ]
        )
        #expect(machine.handle(.requested("0", .resume)) == [])
        #expect(machine.handle(.ended("0", .completed)) == [.finish("0", .completed)])
        #expect(machine.phase(of: "0") == nil)
        #expect(machine.handle(.ended("0", .completed)) == [])
    }

    /// An event of one task does not look at those that neither run nor wait.
    @Test func manyTasksStartByPriorityAndAge() {
        let count = 10_000
        var machine = Machine(maximumConcurrentTasks: 2)
        var started: [String] = []
        func handle(_ event: Machine.Event) {
            for case .start(let id) in machine.handle(event) { started.append(id) }
        }
        for number in 0..<count {
            let priority = number == count - 1 ? 5 : 0
            handle(.added(id: "\(number)", asset: "asset\(number)", priority: priority, phase: .suspended))
        }
        for number in (0..<count).reversed() { handle(.requested("\(number)", .resume)) }
        #expect(started == ["9999", "9998"])
        handle(.ended("9999", .completed))
        handle(.prioritized("500", 1))
        handle(.ended("9998", .failed))
        handle(.ended("500", .completed))
        #expect(started == ["9999", "9998", "0", "500", "1"])
    }

    @Test func suspendedTaskIsStoppedAndContinuesWhenItIsResumed() {
        var machine = machine(1)
        _ = machine.handle(.requested("0", .resume))
        #expect(
            machine.handle(.requested("0", .suspend)) == [
                .save("0", .suspended), .report("0", .stopping(.suspended)), .stop("0"),
            ]
        )
        #expect(machine.handle(.requested("0", .suspend)) == [])
        #expect(machine.handle(.ended("0", .stopped)) == [.report("0", .suspended)])
        #expect(machine.handle(.requested("0", .resume)).last == .start("0"))
    }

    /// A run that was stopped without a request no longer uses capacity.
    @Test func taskWhoseRunWasInterruptedIsSuspended() {
        var machine = machine(2)
        _ = machine.handle(.requested("0", .resume))
        _ = machine.handle(.requested("1", .resume))
        let effects = machine.handle(.ended("0", .stopped))
        #expect(effects == [.report("0", .suspended), .report("1", .running), .start("1")])
        #expect(machine.phase(of: "0") == .suspended)
    }

    @Test func taskThatIsResumedWhileItStopsRunsAgain() {
        var machine = machine(1)
        _ = machine.handle(.requested("0", .resume))
        _ = machine.handle(.requested("0", .suspend))
        #expect(
            machine.handle(.requested("0", .resume)) == [
                .save("0", .waiting), .report("0", .stopping(.waiting)),
            ]
        )
        #expect(
            machine.handle(.ended("0", .stopped)) == [.report("0", .waiting), .report("0", .running), .start("0")]
        )
    }

    @Test func canceledTaskEndsWhenItsRunHasStopped() {
        var machine = machine(1)
        _ = machine.handle(.requested("0", .resume))
        #expect(
            machine.handle(.requested("0", .cancel)) == [
                .save("0", .canceled), .report("0", .stopping(.canceled)), .stop("0"),
            ]
        )
        // Neither request changes a task that is being canceled.
        #expect(machine.handle(.requested("0", .resume)) == [] && machine.handle(.requested("0", .suspend)) == [])
        #expect(machine.handle(.ended("0", .stopped)) == [.finish("0", .canceled)])
    }

    @Test func taskThatCompletesWhileItStopsIsComplete() {
        for request in [Machine.Request.suspend, .cancel] {
            var machine = machine(1)
            _ = machine.handle(.requested("0", .resume))
            _ = machine.handle(.requested("0", request))
            #expect(machine.handle(.ended("0", .completed)) == [.finish("0", .completed)])
        }
    }

    @Test func failedTaskCanBeResumedOrCanceled() {
        var machine = machine(2)
        _ = machine.handle(.requested("0", .resume))
        _ = machine.handle(.requested("1", .resume))
        // The failure gives way to the next task.
        #expect(
            machine.handle(.ended("0", .failed)) == [
                .save("0", .failed), .report("0", .failed), .report("1", .running), .start("1"),
            ]
        )
        #expect(machine.handle(.requested("0", .resume)) == [.save("0", .waiting), .report("0", .waiting)])
        #expect(machine.handle(.requested("0", .cancel)) == [.finish("0", .canceled)])
    }

    @Test func tasksStartInTheOrderOfPriorityAndThenOfCreation() {
        var machine = machine(4)
        for id in ["0", "1", "2", "3"] { _ = machine.handle(.requested(id, .resume)) }
        #expect(machine.handle(.prioritized("2", 1)) == [])
        var order = ["0"]
        while let running = order.last, machine.phase(of: running) == .running {
            for case .start(let id) in machine.handle(.ended(running, .completed)) { order.append(id) }
        }
        #expect(order == ["0", "2", "1", "3"])
    }

    @Test func concurrencyLimitsTheTasksThatRun() {
        var machine = machine(3, concurrent: 2)
        let started = ["0", "1", "2"].flatMap { machine.handle(.requested($0, .resume)) }
        #expect(started.contains(.start("0")) && started.contains(.start("1")) && !started.contains(.start("2")))
        #expect(machine.handle(.concurrencyChanged(3)) == [.report("2", .running), .start("2")])
        #expect(machine.handle(.concurrencyChanged(-1)) == [])
    }

    /// A task that is stopping still uses its asset and its place.
    @Test func tasksOfOneAssetRunOneAfterTheOther() {
        var machine = machine(2, concurrent: 2) { _ in "one" }
        _ = machine.handle(.requested("0", .resume))
        #expect(machine.handle(.requested("1", .resume)) == [.save("1", .waiting), .report("1", .waiting)])
        #expect(machine.handle(.requested("0", .suspend)).contains(.start("1")) == false)
        #expect(
            machine.handle(.ended("0", .stopped)) == [
                .report("0", .suspended), .report("1", .running), .start("1"),
            ]
        )
    }

    /// A task that was interrupted is waiting in the catalog, although it does not run.
    @Test func suspensionOfATaskThatDoesNotRunIsSaved() {
        var machine = machine(1)
        #expect(machine.handle(.requested("0", .suspend)) == [.save("0", .suspended), .report("0", .suspended)])
    }

    /// The catalog keeps the task waiting, so that the next process continues it.
    @Test func runThatStopsWithoutARequestIsNotSaved() {
        var machine = machine(1)
        _ = machine.handle(.requested("0", .resume))
        #expect(machine.handle(.ended("0", .stopped)) == [.report("0", .suspended)])
    }

    @Test func taskThatAnotherProcessRemovedIsStopped() {
        var machine = machine(2, concurrent: 2)
        _ = machine.handle(.requested("0", .resume))
        #expect(machine.handle(.removed("0")) == [.stop("0")])
        #expect(machine.handle(.removed("0")) == [])
        #expect(machine.handle(.ended("0", .stopped)) == [.finish("0", .canceled)])
        #expect(machine.handle(.removed("1")) == [.finish("1", .canceled)])
        #expect(machine.handle(.removed("none")) == [] && machine.handle(.requested("none", .resume)) == [])
    }

    @Test func taskWhoseFilesAnotherDownloadHasStoredIsComplete() {
        var machine = machine(2)
        _ = machine.handle(.requested("0", .resume))
        #expect(machine.handle(.fulfilled("0")) == [])
        #expect(machine.handle(.fulfilled("1")) == [.finish("1", .completed)] && machine.phase(of: "1") == nil)
        #expect(machine.handle(.fulfilled("none")) == [])
    }

    @Test func taskThatIsHandedOverIsForgotten() {
        var machine = machine(1)
        #expect(machine.handle(.released("0")) == [])
        #expect(machine.phase(of: "0") == nil && machine.handle(.requested("0", .resume)) == [])
    }
}
