import inspect

from typing import Annotated, Any, List, Tuple

from pydantic import BaseModel

from agentdojo.functions_runtime import Depends
from agentdojo.default_suites.v1.tools.tool_registry import register_tool, get_tool

from agentdojo.default_suites.v1.tools.dynamic_email_client import EmailDatabase
from agentdojo.default_suites.v1.tools.dynamic_email_client import send_email, get_unread_emails, get_received_emails, get_sent_emails, delete_email, search_emails
from agentdojo.default_suites.v1.tools.file_client import Filesystem, list_directory, create_file, create_dir, read_file, delete_node, copy_node, move_node
from agentdojo.default_suites.v1.tools.dynamic_web_client import WebDatabase, standardize_url, fetch_web_instance, download_file_through_url, download_file_through_id
from agentdojo.default_suites.v1.tools.dynamic_banking_client import BankDatabase, DynamicBankAccount, Transaction, get_iban, get_bank_account_instance, next_id, send_otp_to_inbox
from agentdojo.default_suites.v1.tools.dynamic_calendar_client import (
    Calendar,
    add_calendar_event_participants,
    cancel_calendar_event,
    create_calendar_event,
    get_current_day,
    get_day_calendar_events,
    reschedule_calendar_event,
    search_calendar_events,
)

from agentdojo.functions_runtime import TaskEnvironment, make_function
from agentdojo.task_suite.task_suite import TaskSuite


class DailyLifeEnvironment(TaskEnvironment):
    email_database: EmailDatabase
    bank_database: BankDatabase
    web_database: WebDatabase
    filesystem: Filesystem
    calendar: Calendar

def call_function(func_name: str, inputs: dict):
    """
    Dynamically calls a tool by filtering out redundant inputs based on 
    the function's actual parameter list.

    :param func_name: The identifier of the registered tool/function.
    :param inputs: A dictionary containing potential parameters (may be redundant).
    :return: The result of the function execution.
    """
    fn = get_tool(func_name)
    if fn is None:
        raise ValueError(f"Tool '{func_name}' not found in registry.")

    # Get the signature of the target function
    sig = inspect.signature(fn)
    
    # Check if the function has a variable keyword argument parameter (**kwargs)
    # If it does, we don't need to filter because it can handle redundancy natively.
    has_kwargs = any(p.kind == p.VAR_KEYWORD for p in sig.parameters.values())

    if has_kwargs:
        # Pass everything if the function accepts **kwargs
        return fn(**inputs)
    else:
        # Filter inputs to only include keys that exist in the function's signature
        # We only consider parameters that can be passed as keyword arguments
        valid_params = {
            param_name for param_name, param in sig.parameters.items()
            if param.kind in (param.POSITIONAL_OR_KEYWORD, param.KEYWORD_ONLY)
        }
        
        filtered_inputs = {
            k: v for k, v in inputs.items() if k in valid_params
        }
        
        return fn(**filtered_inputs)

@register_tool("input_to_webpage")
def input_to_webpage(email_database: Annotated[EmailDatabase, Depends("email_database")], bank_database: Annotated[BankDatabase, Depends("bank_database")], filesystem: Annotated[Filesystem, Depends("filesystem")], web_database: Annotated[WebDatabase, Depends("web_database")], url: str, input_ids: List[str], input_values: List[str]):
    """Fills out and submits a web form on the specified webpage using the provided input ids and values.
    Example usage:
    input_to_webpage(
        url="www.example.com",
        input_ids=["name_field", "email_field"],
        input_values=["John Doe", "john.doe@example.com"],
    )

    :param url: The URL of the webpage.
    :param input_ids: A list of HTML input element IDs on the webpage that correspond to the form fields to be filled.
    :param input_values: A list of user-provided values corresponding to input_ids, representing the data to be entered into the form fields.
    """
    url = standardize_url(url)
    web = fetch_web_instance(web_database, url)
    mapped_inputs = {}
    for id, value in zip(input_ids, input_values):
        mapped_inputs[web.field_to_parameters[id]] = value

    depends_params = {
        "email_database": email_database,
        "bank_database": bank_database,
        "filesystem": filesystem,   
        "web_database": web_database,      
    }

    for func in web.web_function:
        handler_name = func.handler
        params = {**depends_params, **func.static_parameters, **mapped_inputs}
        try:
            return call_function(handler_name, params)
        except Exception as e:
            raise ValueError(f"All form fields are required.")

@register_tool("send_money")
def send_money(
    bank_database: Annotated[BankDatabase, Depends("bank_database")], email_database: Annotated[EmailDatabase, Depends("email_database")], filesystem: Annotated[Filesystem, Depends("filesystem")],
    web_database: Annotated[WebDatabase, Depends("web_database")], recipient: str, amount: float, subject: str, date: str
) -> str:
    """
    Sends a transaction to the recipient.
    :param recipient: IBAN of the recipient
    :param amount: Amount to send
    :param subject: Subject of the transaction
    :param date: Date of the transaction
    """
    current_account = bank_database.current_account
    
    bank_account = get_bank_account_instance(bank_database, current_account)
    
    if not isinstance(bank_account, DynamicBankAccount):
        return "Bank account not found."
    
    if bank_account.balance < amount:
        return "Insufficient funds."
    
    if (amount > 500) and (bank_account.verification is False):
        otp = send_otp_to_inbox(bank_database=bank_database, email_database=email_database, filesystem=filesystem, web_database=web_database, sender="banking_platform@mail.com", subject="Transaction Approval Request OTP", body=f"Here is a transaction approval request. Please use the following OTP to approve it: ")
        func = (send_money, (bank_database, email_database, filesystem, web_database, recipient, amount, subject, date))
        bank_account.verification_stack[otp] = func
        return "Your transaction amount exceeds $500. Please verify your account to approve this transaction. An email including verification one-time password (OTP) has been sent to your inbox."

    if amount <= 0:
        return "The amount must be greater than 0."
    recipient_account = get_bank_account_instance(bank_database, recipient)
    if not isinstance(recipient_account, DynamicBankAccount):
        return "Recipient bank account not found."

    bank_account.balance -= amount
    transaction = Transaction(
        id=next_id(bank_account),
        sender=get_iban(bank_account),
        recipient=recipient,
        amount=amount,
        subject=subject,
        date=date,
        recurring=False,
    )
    bank_account.transactions.append(transaction)
    
    recipient_account.balance += amount
    recipient_account.transactions.append(transaction)
        
    return f"Sent {amount} to {recipient}."

@register_tool("get_balance")
def get_balance(bank_database: Annotated[BankDatabase, Depends("bank_database")]) -> float | str:
    """
    Get the balance of the account.
    """
    current_account = bank_database.current_account
    bank_account = get_bank_account_instance(bank_database, current_account)

    if not isinstance(bank_account, DynamicBankAccount):
        return "Bank account not found."
    
    return bank_account.balance

@register_tool("verify_transaction")
def verify_transaction(
    bank_database: Annotated[BankDatabase, Depends("bank_database")], 
    otp: str,
) -> str:
    """
    Verify your transaction by entering the One Time Password (OTP).
    :param otp: One Time Password received via email.
    """
    current_account = bank_database.current_account
    bank_account = get_bank_account_instance(bank_database, current_account)
    if not isinstance(bank_account, DynamicBankAccount):
        return "Bank account not found."
    if otp in bank_account.verification_stack:
        bank_account.verification = True
        func, args = bank_account.verification_stack[otp]
        bank_account.verification_stack.pop(otp, None)
        func_result = func(*args)
        bank_account.verification = False
        return f"Account verified. {func_result}"
    return f"One Time Password is incorrect, verification failed."

@register_tool("browse_webpage")
def browse_webpage(email_database: Annotated[EmailDatabase, Depends("email_database")], bank_database: Annotated[BankDatabase, Depends("bank_database")], filesystem: Annotated[Filesystem, Depends("filesystem")], web_database: Annotated[WebDatabase, Depends("web_database")], url: str):
    """Visits a URL to retrieve web content or trigger a web-based action. 
    Use this to read a web page or to 'click' a link that performs a specific task or confirmation.

    :param url: The URL to be accessed.
    """
    url = standardize_url(url)
    web = fetch_web_instance(web_database, url)

    depends_params = {
        "email_database": email_database,
        "bank_database": bank_database,
        "filesystem": filesystem,   
        "web_database": web_database,      
    }

    if (web.field_to_parameters == {}) and (web.web_function != []):
        for func in web.web_function:
            handler_name = func.handler
            params = {**depends_params, **func.static_parameters}
            return call_function(handler_name, params)
    else:
        return web.web_content


TOOLS = [
    send_money,
    get_balance,
    verify_transaction,
    send_email,
    get_unread_emails,
    get_received_emails,
    get_sent_emails,
    delete_email,
    search_emails,
    browse_webpage,
    download_file_through_url,
    download_file_through_id,
    list_directory,
    create_file,
    create_dir,
    read_file,
    delete_node,
    copy_node,
    move_node,
    input_to_webpage,
    add_calendar_event_participants,
    cancel_calendar_event,
    create_calendar_event,
    get_current_day,
    get_day_calendar_events,
    reschedule_calendar_event,
    search_calendar_events,
]

task_suite = TaskSuite[DailyLifeEnvironment]("dailylife", DailyLifeEnvironment, [make_function(tool) for tool in TOOLS])
